import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { CLASSNAME } from '../model.ts';

export const modelRead = defineComponent({
  name: 'model_read',
  summary: 'Reads an entity of the data model.',
  otherNames: ['get', 'load', 'lookup'],
  docs: 'The properties of the entity are read as `blockname.entity.NAME`.',
  settings: Type.Object({
    class: CLASSNAME,
    id: Type.String({ minLength: 1, maxLength: 128, examples: ['${customer_id}'], description: 'Id of the entity.' }),
  }),
  exits: { next: { description: 'The entity was found.' }, missing: { description: 'There is no entity of this id.' } },
  results: { entity: { type: 'object', description: 'The entity.' } },
  waits: true,
  brief: true,
  method: 'model.read',
  subject: 'class',
  run: async ({ services, domain }, { class: classname, id }) => {
    const entity = await services.model.read(domain, classname, id);
    return entity === undefined ? { exit: 'missing' } : { exit: 'next', fields: { entity } };
  },
});
