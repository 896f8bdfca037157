import type { MemoryCallStore } from '../callstore/memory-callstore.ts';
import { CallDialog, type DialogObserver, type DialogStart } from './dialog.ts';

/** The live dialogs of this node, kept in step with the callstore. */
export class DialogBook implements DialogObserver {
  readonly #store: MemoryCallStore;
  readonly #dialogs = new Map<string, CallDialog>();

  constructor(store: MemoryCallStore) {
    this.#store = store;
  }

  open(start: DialogStart): CallDialog {
    return new CallDialog(this, start);
  }

  find(dialogid: string): CallDialog | undefined {
    return this.#dialogs.get(dialogid);
  }

  /** The established dialog that has a leg with this Call-ID, and the side of that leg. */
  findByCallId(callid: string): { dialog: CallDialog; side: 'a' | 'b' } | undefined {
    for (const dialogid of this.#store.idsOfCall(callid)) {
      const dialog = this.#dialogs.get(dialogid);
      if (dialog?.state === 'dialog') return { dialog, side: dialog.a.callid === callid ? 'a' : 'b' };
    }
    return undefined;
  }

  all(): CallDialog[] {
    return [...this.#dialogs.values()];
  }

  changed(dialog: CallDialog): void {
    this.#dialogs.set(dialog.dialogid, dialog);
    this.#store.put(dialog.entry());
  }

  gone(dialog: CallDialog): void {
    this.#dialogs.delete(dialog.dialogid);
    this.#store.remove(dialog.dialogid);
  }
}
