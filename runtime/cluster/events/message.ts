/** Events of one domain as a message of the stream. */
import type { DomainName } from '../../domain-name/index.ts';
import type { NodeEvent } from '../../events/index.ts';

/** Bytes of one event; a message of NATS may have 1 MB. */
const MAX_EVENT = 900_000;

type Told = Omit<NodeEvent, 'seq' | 'domain'>;

/** The event as it is sent. One that is too large for NATS comes without its data: subscribers read the state anew. */
export function toldOf({ ts, class: name, type, data, before, users }: NodeEvent): string {
  const told: Told = { ts, class: name, type, data, ...(users && { users }) };
  const whole = JSON.stringify({ ...told, ...(before && { before }) });
  if (whole.length < MAX_EVENT && Buffer.byteLength(whole) < MAX_EVENT) return whole;
  // Without the entity before, a needless event of the change may come.
  const short = JSON.stringify(told);
  if (Buffer.byteLength(short) < MAX_EVENT) return short;
  const { classname, operation } = data;
  return JSON.stringify({
    ...told,
    data: classname === undefined || operation === undefined ? {} : { classname, operation: 'reload' },
  });
}

export function messageOf(told: readonly string[]): string {
  return `[${told.join(',')}]`;
}

/** The events of a message; none for what no node wrote. @param position of the message in the stream */
export function eventsOf(domain: DomainName, position: number, text: string): readonly NodeEvent[] {
  try {
    return (JSON.parse(text) as Told[]).map((told) => ({ ...told, domain, seq: position }));
  } catch {
    return [];
  }
}
