/**
 * What operations may ask of the live dialogs of this node, and do to them. The switch implements it; operations reach
 * dialogs through it only.
 */
export interface DialogControl {
  /** A side of an established dialog; undefined when there is no such dialog or party. */
  party(dialogid: string, side: Side): { readonly number: string } | undefined;
  /** The side that a SIP URI or a Call-ID means; undefined when it is neither. */
  sideOf(dialogid: string, by: string): Side | undefined;
  /** Whether somebody has answered: operations that move a party need that. */
  established(dialogid: string): boolean;
  /** BYE to both parties, CANCEL to all that ring; false when there is no such dialog. */
  terminate(dialogid: string): boolean;
  /** The labels of a dialog, in the order in which they came; the array is a copy. */
  bindings(dialogid: string): readonly string[] | undefined;
  setBindings(dialogid: string, labels: readonly string[]): void;
}

export type Side = 'a' | 'b';

export function opposite(side: Side): Side {
  return side === 'a' ? 'b' : 'a';
}
