/** Writes an event as JSON for many subscribers: the part common to all of them is made once. */
import type { Delivery } from '../../runtime/events/index.ts';

const written = new WeakMap<object, string>();

/** `{id, seq, class, type, ts, data}`. @param id of the subscription, which needs no escapes */
export function toldEvent(id: string, { seq, event }: Delivery): string {
  let shared = written.get(event);
  if (shared === undefined) {
    const { class: eventClass, type, ts, data } = event;
    shared = JSON.stringify({ class: eventClass, type, ts, data }).slice(1);
    written.set(event, shared);
  }
  return `{"id":"${id}","seq":${seq},${shared}`;
}
