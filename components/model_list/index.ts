import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import type { Value } from '../../runtime/language/index.ts';
import { CLASSNAME } from '../model.ts';

export const modelList = defineComponent({
  name: 'model_list',
  summary: 'Lists entities of the data model.',
  otherNames: ['query', 'find', 'select', 'search'],
  docs: 'Filters are those of the REST service, as a list in prefix notation or as an object.',
  settings: Type.Object({
    class: CLASSNAME,
    filter: Type.Optional(Type.Any({ examples: [{ city: 'London' }], description: 'Which ones; default: all.' })),
    order: Type.Array(Type.String(), { default: [], maxItems: 8, description: 'Properties to sort by.' }),
    interval: Type.Optional(
      Type.Any({
        examples: [['2026-11-01', '2026-12-01']],
        description: 'From and to, ISO 8601: needed for classes that are kept by time.',
      }),
    ),
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'How many at most.' }),
    offset: Type.Integer({ minimum: 0, default: 0, description: 'How many to leave out.' }),
  }),
  exits: { next: { description: 'There is a list.' }, empty: { description: 'There is none.', otherwise: 'next' } },
  results: {
    entities: { type: 'list', description: 'The entities.' },
    count: { type: 'integer', description: 'How many there are in it.' },
  },
  waits: true,
  brief: true,
  method: 'model.list',
  subject: 'class',
  run: async ({ services, domain }, { class: classname, filter, order, interval, limit, offset }) => {
    const entities = await services.model.list(domain, classname, {
      ...(filter === undefined ? {} : { filter: filter as Value }),
      ...(interval === undefined ? {} : { interval: interval as Value }),
      order,
      limit,
      offset,
    });
    const exit = entities.length > 0 ? 'next' : 'empty';
    return { exit, fields: { entities: [...entities], count: entities.length } };
  },
});
