import type { DialogBook } from './dialog-book.ts';
import { numberOf, urisOf } from './party.ts';

type Side = 'a' | 'b';

/** The live dialogs as operations on them see and change them. */
export class LiveDialogs {
  readonly #dialogs: DialogBook;

  constructor(dialogs: DialogBook) {
    this.#dialogs = dialogs;
  }

  /** A side of an established dialog. */
  party(dialogid: string, side: Side): { readonly number: string } | undefined {
    const leg = this.#dialogs.find(dialogid)?.leg(side);
    return leg === undefined ? undefined : { number: numberOf(leg.party) };
  }

  /** The side that a SIP URI (by login or by number, with or without brackets) or a Call-ID means. */
  sideOf(dialogid: string, by: string): Side | undefined {
    const dialog = this.#dialogs.find(dialogid);
    const uri = `<${by.trim().replace(/^<|>$/g, '')}>`.toLowerCase();
    return (['a', 'b'] as const).find((side) => {
      const leg = dialog?.leg(side);
      if (leg === undefined) return false;
      return leg.callid === by || urisOf(leg.party).some((own) => own.toLowerCase() === uri);
    });
  }

  established(dialogid: string): boolean {
    return this.#dialogs.find(dialogid)?.state === 'dialog';
  }

  /** Ends a dialog: BYE to both parties, CANCEL to all that still ring; false when there is none of that id. */
  terminate(dialogid: string): boolean {
    const dialog = this.#dialogs.find(dialogid);
    dialog?.end({ by: 'external', status: 487, reason: 'Request Terminated' });
    return dialog !== undefined;
  }

  bindings(dialogid: string): readonly string[] | undefined {
    const dialog = this.#dialogs.find(dialogid);
    return dialog === undefined ? undefined : [...dialog.bindings];
  }

  setBindings(dialogid: string, labels: readonly string[]): void {
    const bindings = this.#dialogs.find(dialogid)?.bindings;
    bindings?.clear();
    for (const label of labels) bindings?.add(label);
  }
}
