import { Type } from 'typebox';
import { type BusEvent, defineComponent, eventName, type EventPort } from '../../runtime/runs/index.ts';
import { Duration, plainText, type Value } from '../../runtime/language/index.ts';
import { withinTime } from '../within-time.ts';

export const waitEvent = defineComponent({
  name: 'wait_event',
  summary: 'Waits for an event of the domain.',
  otherNames: ['on_event', 'wait_for_event'],
  docs: [
    '`order_ready` is an event that a scenario published, `callevents.call_end` one of the platform. Only events from now on',
    'count. `where` names fields of the event and their values.',
  ].join('\n'),
  settings: Type.Object({
    event: Type.String({
      pattern: '^[A-Za-z][A-Za-z0-9_]*(\\.[A-Za-z][A-Za-z0-9_]*)?$',
      examples: ['order_ready'],
      description: 'Its name.',
    }),
    where: Type.Record(Type.String(), Type.Any(), {
      default: {},
      description: 'Fields of the event, and the values they must have.',
    }),
    timeout: Duration({ default: '30s', examples: ['30s'], description: 'How long to wait.' }),
  }),
  shorthand: 'event',
  exits: { next: { description: 'The event came.' }, timeout: { description: 'The event did not come in time.' } },
  results: { data: { type: 'any', description: 'Data of the event.' } },
  waits: true,
  resumes: true,
  method: 'events.wait',
  subject: 'event',
  run: async (context, { event, where, timeout }) => {
    const { events } = context.services;
    const matches = ({ data }: BusEvent): boolean =>
      Object.entries(where as Record<string, Value>).every(
        ([field, value]) => plainText(data[field] ?? null) === plainText(value),
      );
    const filter = { domain: context.domain, ...eventName(event) };
    const found = await withinTime(context, timeout, (signal) => nextEvent(events, filter, matches, signal));
    return found === undefined ? { exit: 'timeout' } : { exit: 'next', fields: { data: found.data } };
  },
});

async function nextEvent(
  events: EventPort,
  filter: Pick<BusEvent, 'domain' | 'class' | 'type'>,
  matches: (event: BusEvent) => boolean,
  signal: AbortSignal,
): Promise<BusEvent> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<BusEvent>();
  const unsubscribe = events.subscribe(filter, (event) => {
    if (matches(event)) resolve(event);
  });
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  return promise.finally(() => {
    unsubscribe();
    signal.removeEventListener('abort', abort);
  });
}
