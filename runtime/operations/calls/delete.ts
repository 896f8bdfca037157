import { Type } from 'typebox';
import { defineOperation, touched } from '../definition.ts';

/** Ends dialogs (specification, "DELETE (terminate)"). */
export const deleteOperation = defineOperation({
  name: 'delete',
  summary: 'Ends a dialog: BYE to both parties, CANCEL to all that ring. A selector that means several ends them all.',
  parameters: Type.Object({}),
  response: Type.Object({
    dialogid: Type.String(),
    dialogids: Type.Optional(Type.Array(Type.String(), { description: 'When several were meant: all of them.' })),
  }),
  example: {},
  target: 'dialogs',
  http: { on: 'calls', paths: ['domain', 'own'], verb: 'DELETE' },
  startsCall: false,
  scenario: 'delete',
  plan: ({ dialogs }, { scope, dialogids }) => ({
    touches: () => dialogids.map((id) => touched(dialogs, scope.domain, id)),
    args: { dialogids },
  }),
});
