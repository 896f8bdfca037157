import { Type } from 'typebox';
import { defineOperation } from '../definition.ts';
import { DialogRecord } from '../answer/dialog-record.ts';
import { plain } from '../answer/plain.ts';

/** Lists dialogs. Over HTTP that is GET on the collection. */
export const list = defineOperation({
  name: 'list',
  summary: 'Lists the live dialogs of the domain, oldest first.',
  parameters: Type.Object({}),
  response: Type.Object({
    dialogs: Type.Array(DialogRecord, { description: 'Each as `operation.read` answers it.' }),
  }),
  example: {},
  target: 'none',
  startsCall: false,
  plan: ({ calls }, { scope }) => ({
    touches: () => [],
    perform: async () => ({ dialogs: plain(await calls.list(scope)) }),
  }),
});
