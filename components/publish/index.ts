import { Type } from 'typebox';
import { defineComponent } from '../../runtime/interpreter/component.ts';
import { unavailable } from '../../runtime/interpreter/ports/capability.ts';
import { SCENARIO_EVENTS } from '../../runtime/interpreter/ports/events.ts';
import type { Value } from '../../runtime/interpreter/values.ts';

export const publish = defineComponent({
  name: 'publish',
  summary: 'Tells the domain of an event.',
  otherNames: ['emit', 'publish_event'],
  docs: 'Scenarios that `wait_event`, or start `on` it, and subscribers get it as class `scenarioevents`.',
  settings: Type.Object({
    event: Type.String({
      pattern: '^[A-Za-z][A-Za-z0-9_]{0,63}$',
      examples: ['order_ready'],
      description: 'Its name.',
    }),
    data: Type.Record(Type.String(), Type.Any(), { default: {}, description: 'Fields that go with it.' }),
  }),
  shorthand: 'event',
  exits: { next: { description: 'Everybody has been told.' } },
  results: { seq: { type: 'integer', description: 'Number of the event.' } },
  method: 'events.publish',
  subject: 'event',
  run: async ({ services, domain }, { event, data }) => {
    if (!services.events) throw unavailable('this node has no event bus');
    const { seq } = services.events.publish({
      domain,
      class: SCENARIO_EVENTS,
      type: event,
      data: data as Record<string, Value>,
    });
    return { exit: 'next', fields: { seq } };
  },
});
