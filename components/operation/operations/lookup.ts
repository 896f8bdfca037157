import { Type } from 'typebox';
import { defineOperation } from '../definition.ts';

/** Finds dialogs (specification, "LOOKUP (find dialog ids)"). */
export const lookup = defineOperation({
  name: 'lookup',
  summary: 'Answers the ids of the dialogs that a selector means, oldest first.',
  parameters: Type.Object({}),
  response: Type.Array(Type.String()),
  example: { from: '101' },
  target: 'found',
  paths: ['domain', 'own'],
  startsCall: false,
  plan: (_tools, { dialogids }) => ({ touches: [], answer: [...dialogids] }),
});
