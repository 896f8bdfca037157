import type { Transfer } from '../call-values.ts';

/** A cancellable transfer: the target's phone stops ringing, and the opponent returns to the scenario. */
export interface CancellableTransfer extends Transfer {
  /** Makes the final answer 487, unless one has already come. */
  cancel(): void;
}

export function isCancellable(transfer: object): transfer is { cancel(): void } {
  return 'cancel' in transfer && typeof transfer.cancel === 'function';
}
