import { Type } from 'typebox';
import { defineOperation, touched } from '../definition.ts';

/** Finds dialogs (specification, "LOOKUP (find dialog ids)"). */
export const lookup = defineOperation({
  name: 'lookup',
  summary: 'Answers the ids of the dialogs that a selector means, oldest first.',
  parameters: Type.Object({}),
  response: Type.Array(Type.String()),
  example: { from: '101' },
  target: 'found',
  http: { on: 'calls', paths: ['domain', 'own'] },
  startsCall: false,
  plan: ({ dialogs }, { scope, dialogids }) => ({
    touches: () => dialogids.map((id) => touched(dialogs, scope.domain, id)),
    perform: () => [...dialogids],
  }),
});
