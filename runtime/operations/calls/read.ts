import { Type } from 'typebox';
import { defineOperation, touched } from '../definition.ts';
import { DialogRecord } from '../answer/dialog-record.ts';
import { OperationError } from '../errors.ts';
import { plain } from '../answer/plain.ts';

/** Reads a dialog. Over HTTP that is GET on it. */
export const read = defineOperation({
  name: 'read',
  summary: 'Reads one dialog.',
  parameters: Type.Object({}),
  response: DialogRecord,
  example: { dialogid: '4f1c09d2ab7e' },
  target: 'dialog',
  startsCall: false,
  plan: async ({ calls, dialogs }, { scope, dialogids: [dialogid = ''] }) => {
    const dialog = await calls.read(scope, dialogid);
    if (dialog === undefined) throw new OperationError({ kind: 'dialog_not_found' });
    return { touches: () => [touched(dialogs, scope.domain, dialogid)], perform: () => plain(dialog) };
  },
});
