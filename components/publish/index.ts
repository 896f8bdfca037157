import { Type } from 'typebox';
import { defineComponent, SCENARIO_EVENTS } from '../../runtime/runs/index.ts';
import { ScenarioError, type Value } from '../../runtime/language/index.ts';

/** Limit of one event's data in JSON characters: events are kept for reconnecting subscribers. */
const MAX_LENGTH = 16_384;

export const publish = defineComponent({
  name: 'publish',
  summary: 'Publishes an event of the domain.',
  otherNames: ['emit', 'publish_event'],
  docs: [
    'Scenarios get it by `wait_event`, by `on`, or by `starts`; subscribers get it as class `scenarioevents`. Its data may have',
    '16,384 characters of JSON.',
  ].join('\n'),
  settings: Type.Object({
    event: Type.String({
      pattern: '^[A-Za-z][A-Za-z0-9_]{0,63}$',
      examples: ['order_ready'],
      description: 'Its name.',
    }),
    data: Type.Record(Type.String(), Type.Any(), { default: {}, description: 'Fields that go with it.' }),
  }),
  shorthand: 'event',
  exits: { next: { description: 'It is published.' } },
  results: { seq: { type: 'integer', description: 'Number of the event.' } },
  method: 'events.publish',
  subject: 'event',
  run: async ({ services, domain }, { event, data }) => {
    const { length } = JSON.stringify(data);
    if (length > MAX_LENGTH) {
      const found = `data may have ${MAX_LENGTH} characters of JSON, and has ${length}`;
      throw new ScenarioError('setting', `publish: ${found}; publish where it can be found, as the id of an entity`);
    }
    const { seq } = services.events.publish({
      domain,
      class: SCENARIO_EVENTS,
      type: event,
      data: data as Record<string, Value>,
    });
    return { exit: 'next', fields: { seq } };
  },
});
