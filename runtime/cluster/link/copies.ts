/** How often NATS keeps what the nodes store. */
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import type { Log } from '../log.ts';
import type { NatsLink } from './nats-link.ts';

/** Copies in a NATS cluster; a single server keeps one. */
export const COPIES = 3;
/** Names of what nodes make: buckets, and the stream of events. */
const OURS = /^(?:KV_)?ringmaster_/;
/** Milliseconds between two looks. */
const LOOK_MS = 5000;
/** Milliseconds for an answer of NATS. */
const ANSWER_MS = 2000;

/**
 * Makes the copies that were not possible before: NATS refuses three while one of its servers is away, and what was made then would
 * end with its only server. Looks until every stream has three, at each connection.
 */
export class Copies {
  readonly #link: NatsLink;
  readonly #log: Log;
  #timer: NodeJS.Timeout | undefined;
  #isWarned = false;

  constructor(link: NatsLink, log: Log) {
    this.#link = link;
    this.#log = log;
    link.onUp(() => this.#later());
    link.onDown(() => clearTimeout(this.#timer));
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #later(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(), LOOK_MS).unref();
  }

  async #look(): Promise<void> {
    const { connection } = this.#link;
    // A server without a cluster keeps one copy.
    if (connection?.info?.cluster === undefined) return;
    try {
      const manager = await jetstreamManager(connection, { timeout: ANSWER_MS });
      if (await this.#hasAll(manager)) return;
    } catch (err) {
      this.#log.debug({ err }, 'the copies at NATS are looked at later');
    }
    if (connection === this.#link.connection) this.#later();
  }

  /** @throws errors of NATS */
  async #hasAll(manager: JetStreamManager): Promise<boolean> {
    const streams: { readonly name: string; readonly copies: number }[] = [];
    for await (const { config } of manager.streams.list())
      if (OURS.test(config.name)) streams.push({ name: config.name, copies: config.num_replicas });
    for (const { name } of streams.filter(({ copies }) => copies < COPIES)) {
      try {
        await manager.streams.update(name, { num_replicas: COPIES });
      } catch (err) {
        this.#warn(err);
        return false;
      }
      this.#log.info({ stream: name }, 'NATS keeps three copies now');
    }
    return streams.length > 0;
  }

  #warn(err: unknown): void {
    if (this.#isWarned) return;
    this.#isWarned = true;
    const reason = err instanceof Error ? err.message : String(err);
    this.#log.warn({ reason }, 'NATS keeps one copy of what the nodes share, until three of its servers are there');
  }
}
