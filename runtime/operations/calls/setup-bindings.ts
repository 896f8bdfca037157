import { Type } from 'typebox';
import { defineOperation, touched } from '../definition.ts';
import { Binding, ParameterError } from '../request/parameters.ts';

/** Reads or changes the labels of a dialog (specification, "SETUP_BINDINGS"). */
export const setupBindings = defineOperation({
  name: 'setup_bindings',
  summary: 'Reads or changes the labels of a dialog, which stay with the call through every transfer.',
  parameters: Type.Object({
    command: Type.Enum(['get', 'set', 'add', 'remove', 'clean', 'contains'], {
      description: 'What to do with the labels.',
    }),
    label: Type.Optional(
      Type.Union([Binding, Type.Array(Binding, { maxItems: 100 })], {
        description: 'A label, or several; one only for contains.',
      }),
    ),
  }),
  response: Type.Object({
    result: Type.Literal('ok'),
    dialogid: Type.String(),
    labels: Type.Optional(Type.Array(Type.String(), { description: 'Of `get`.' })),
    contains: Type.Optional(Type.Boolean({ description: 'Of `contains`.' })),
  }),
  example: { command: 'add', label: 'vip' },
  target: 'dialog',
  http: { on: 'calls', paths: ['domain', 'own'] },
  startsCall: false,
  scenario: 'setup_bindings',
  plan: ({ dialogs }, { scope, parameters: { command, label }, dialogids: [dialogid = ''] }) => {
    const labels = label === undefined ? [] : [label].flat();
    if (command === 'contains' && typeof label !== 'string') throw new ParameterError('label', 'must be one label');
    if (label === undefined && !['get', 'clean'].includes(command)) throw new ParameterError('label', 'is required');
    return { touches: () => [touched(dialogs, scope.domain, dialogid)], args: { dialogid, command, labels } };
  },
});
