import type { CallStore } from '../../runtime/callstore/callstore.ts';
import type { DialogControl } from './dialog-control.ts';
import type { OperationRunner } from './operation.ts';

/** What operations on live dialogs work with. */
export interface OperationTools {
  readonly runner: OperationRunner;
  readonly calls: CallStore;
  readonly dialogs: DialogControl;
}
