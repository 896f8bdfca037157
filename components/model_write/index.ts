import { Type } from 'typebox';
import { defineComponent, type Entity } from '../../runtime/runs/index.ts';
import { plainText, ScenarioError } from '../../runtime/language/index.ts';
import { CLASSNAME } from '../model.ts';

const NO_ID = '"model_write" needs an id to remove something';

export const modelWrite = defineComponent({
  name: 'model_write',
  summary: 'Creates, changes or removes an entity of the data model.',
  otherNames: ['save', 'store', 'insert', 'update', 'create', 'write'],
  docs: 'Without an `id` an entity is created. With one it is changed: properties without a new value stay as they are.',
  settings: Type.Object({
    class: CLASSNAME,
    id: Type.String({ maxLength: 128, default: '', examples: ['${customer_id}'], description: 'Id of the entity.' }),
    entity: Type.Record(Type.String(), Type.Any(), { default: {}, description: 'Properties with their values.' }),
    remove: Type.Boolean({ default: false, description: 'Remove it.' }),
  }),
  exits: {
    next: { description: 'It is done.' },
    missing: { description: 'There is no entity of this id.', otherwise: 'next', when: ({ id }) => id !== '' },
  },
  results: {
    id: { type: 'string', description: 'Id of the entity.' },
    created: { type: 'boolean', description: 'Whether there was none before.' },
  },
  waits: true,
  brief: true,
  method: 'model.write',
  check: ({ remove, id }) => (remove === true && id === '' ? [NO_ID] : []),
  subject: 'class',
  run: async ({ services, domain }, { class: classname, id, entity, remove }) => {
    const model = services.model;
    if (remove && id === '') throw new ScenarioError('setting', NO_ID);
    if (id === '') {
      const created = await model.create(domain, classname, entity as Entity);
      return { exit: 'next', fields: { id: plainText(created['id'] ?? ''), created: true } };
    }
    const found = remove
      ? await model.remove(domain, classname, id)
      : (await model.update(domain, classname, id, entity as Entity)) !== undefined;
    return { exit: found ? 'next' : 'missing', fields: { id, created: false } };
  },
});
