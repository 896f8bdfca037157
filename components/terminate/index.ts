import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { listOf, ScenarioError } from '../../runtime/language/index.ts';

const Id = Type.String({ minLength: 1, maxLength: 64, examples: ['4f1c09d2ab7e'] });

export const terminate = defineComponent({
  name: 'terminate',
  summary: 'Ends live calls from outside: BYE to both parties, CANCEL to all that ring.',
  docs: [
    "For any call of the domain; `hangup` ends the scenario's own call. When none of the calls is alive, it fails with the code",
    '`dialog_not_found`.',
  ].join('\n'),
  settings: Type.Object({
    dialogid: Type.Union([Id, Type.Array(Id, { minItems: 1, maxItems: 10_000 })], {
      examples: ['4f1c09d2ab7e'],
      description: 'The live call, or several.',
    }),
  }),
  shorthand: 'dialogid',
  exits: { next: { description: 'They are ended.' } },
  results: {
    ended: { type: 'list', schema: Type.Array(Type.String()), description: 'Ids of the ended calls.' },
  },
  run: async ({ services, domain }, { dialogid }) => {
    const { dialogs } = services;
    const ended = listOf(dialogid).filter((id) => {
      const dialog = dialogs.find(domain, id);
      dialog?.terminate();
      return dialog !== undefined;
    });
    if (ended.length === 0) throw new ScenarioError('dialog_not_found', 'Dialog not found');
    return { exit: 'next', fields: { ended } };
  },
});
