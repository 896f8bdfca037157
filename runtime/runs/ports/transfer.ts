import type { Transfer } from '../call-values.ts';

/** A transfer that can be called off: the target's phone stops ringing, and the opponent is the scenario's again. */
export interface CancellableTransfer extends Transfer {
  /** The final answer is 487 then, unless there was one before. */
  cancel(): void;
}

export function isCancellable(transfer: object): transfer is { cancel(): void } {
  return 'cancel' in transfer && typeof transfer.cancel === 'function';
}
