/** The past of a domain in the stream. */
import type { DomainName } from '../../domain-name/index.ts';
import type { NodeEvent } from '../../events/index.ts';
import type { EventStream } from './event-stream.ts';
import { eventsOf } from './message.ts';

/** Milliseconds for reading the past. */
const READ_MS = 10_000;

export interface PastOptions {
  readonly domain: DomainName;
  /** Of the stream. */
  readonly epoch: string;
  /** The events after this position, up to this one. */
  readonly after: number;
  readonly upTo: number;
}

/** The events between two positions; undefined when some of them are gone. */
export async function pastOf(
  stream: EventStream,
  { domain, epoch, after, upTo }: PastOptions,
): Promise<readonly NodeEvent[] | undefined> {
  const events: NodeEvent[] = [];
  if (after < upTo) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let count = 0;
    let waiting = Number.POSITIVE_INFINITY;
    const reading = await stream.read(domain, after + 1, (position, text) => {
      // A server of NATS that has just come back may begin before the place that it was asked for.
      if (position <= after) return;
      count += 1;
      if (position <= upTo) events.push(...eventsOf(domain, position, text));
      if (position >= upTo || count >= waiting) resolve();
    });
    ({ waiting } = reading);
    if (count >= waiting) resolve();
    const timer = setTimeout(() => reject(new Error('NATS does not send the past events in time')), READ_MS);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      reading.stop();
    }
  }
  const state = await stream.state();
  return state.epoch === epoch && state.first <= after + 1 ? events : undefined;
}
