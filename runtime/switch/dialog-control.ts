import type { DialogPort, LiveDialog, LiveLeg } from '../interpreter/ports/dialogs.ts';
import type { CallDialog } from './dialog.ts';
import type { DialogBook } from './dialog-book.ts';
import { numberOf, urisOf } from './party.ts';

/** The live dialogs as components see and change them. */
export class LiveDialogs implements DialogPort {
  readonly #dialogs: DialogBook;

  constructor(dialogs: DialogBook) {
    this.#dialogs = dialogs;
  }

  find(domain: string, dialogid: string): LiveDialog | undefined {
    const dialog = this.#dialogs.find(dialogid);
    return dialog?.isOf(domain) === true ? new DialogHandle(dialog) : undefined;
  }
}

class DialogHandle implements LiveDialog {
  readonly #dialog: CallDialog;

  constructor(dialog: CallDialog) {
    this.#dialog = dialog;
  }

  get dialogid(): string {
    return this.#dialog.dialogid;
  }

  get status(): LiveDialog['status'] {
    return this.#dialog.state === 'dialog' ? 'dialog' : 'forking';
  }

  get legs(): readonly LiveLeg[] {
    return this.#dialog.legs.map(({ leg: { callid, party }, side }) => ({
      callid,
      side,
      number: numberOf(party),
      uris: urisOf(party),
      domain: party.domain,
    }));
  }

  get bindings(): readonly string[] {
    return [...this.#dialog.bindings];
  }

  setBindings(labels: readonly string[]): void {
    const { bindings } = this.#dialog;
    bindings.clear();
    for (const label of labels) bindings.add(label);
  }

  terminate(): void {
    this.#dialog.end({ by: 'external', status: 487, reason: 'Request Terminated' });
  }
}
