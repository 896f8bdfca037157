import type { CallStore } from '../../../runtime/callstore/callstore.ts';
import type { DialogControl, Side } from '../../../components/operation/dialog-control.ts';

/** No live dialogs at all. */
export const NO_CALLS: CallStore = {
  list: () => Promise.resolve([]),
  read: () => Promise.resolve(undefined),
  lookup: () => Promise.resolve([]),
};

/** Dialogs between numbers, by id; labels are kept. */
export class MemoryDialogs implements DialogControl {
  readonly labels = new Map<string, readonly string[]>();
  readonly numbers = new Map<string, Readonly<Record<Side, string>>>();
  readonly forking = new Set<string>();

  party(dialogid: string, side: Side): { readonly number: string } | undefined {
    const number = this.numbers.get(dialogid)?.[side];
    return number === undefined ? undefined : { number };
  }

  sideOf(dialogid: string, by: string): Side | undefined {
    const numbers = this.numbers.get(dialogid);
    return (['a', 'b'] as const).find(
      (side) => by === `<sip:${numbers?.[side]}@demo.local>` || by === `${side}-${dialogid}`,
    );
  }

  established(dialogid: string): boolean {
    return this.numbers.has(dialogid) && !this.forking.has(dialogid);
  }

  terminate(dialogid: string): boolean {
    return this.numbers.delete(dialogid);
  }

  bindings(dialogid: string): readonly string[] | undefined {
    return this.numbers.has(dialogid) ? (this.labels.get(dialogid) ?? []) : undefined;
  }

  setBindings(dialogid: string, labels: readonly string[]): void {
    this.labels.set(dialogid, labels);
  }
}
