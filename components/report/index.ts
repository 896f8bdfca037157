import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';

export const report = defineComponent({
  name: 'report',
  summary: 'Reports progress to the starter of the scenario.',
  docs: [
    'A service scenario answers its REST request at a milestone (`response_mode`). `call` and `refer` report theirs by',
    '`report_as`; `report: finished` reports the end of the operation. `fields` become part of the run’s result.',
  ].join('\n'),
  settings: Type.Object({
    milestone: Type.String({
      minLength: 1,
      maxLength: 64,
      default: 'finished',
      examples: ['finished'],
      description: 'What is reported.',
    }),
    fields: Type.Optional(Type.Record(Type.String(), Type.Any(), { description: 'Result fields to set.' })),
  }),
  shorthand: 'milestone',
  exits: { next: { description: 'Reported.', otherwise: 'end' } },
  results: {},
  method: 'report',
  run: async (context, { milestone, fields }) => {
    context.report({ milestone, ...(fields === undefined ? {} : { fields }) });
    return { exit: 'next' };
  },
});
