import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { authorCode, ScenarioError } from '../../runtime/language/index.ts';

export const fail = defineComponent({
  name: 'fail',
  summary: 'Fails with an error of your own.',
  otherNames: ['throw', 'raise', 'error'],
  docs: [
    'A scenario that was started by `run` passes the error on: the `run` block leaves by `error`, with this code and message.',
    'The block may name its own exit `error`, too.',
  ].join('\n'),
  settings: Type.Object({
    code: Type.String({
      pattern: '^[a-z][a-z0-9_]{0,63}$',
      examples: ['no_such_customer'],
      description: 'The code for `error.code`.',
    }),
    message: Type.String({ maxLength: 1024, default: '', description: 'The text for `error.message`.' }),
  }),
  shorthand: 'code',
  exits: {},
  results: {},
  authorCodes: { setting: 'code' },
  method: false,
  run: ({ signal }, { code, message }) => {
    signal.throwIfAborted();
    return Promise.reject(new ScenarioError(authorCode(code), message === '' ? code : message));
  },
});
