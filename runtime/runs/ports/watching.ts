import type { CallPort } from '../call-port.ts';
import { hasAbility } from './capability.ts';

/** Something the other party did while no block asked for it. */
export type CallNotice =
  | { readonly kind: 'dtmf'; readonly digit: string }
  | { readonly kind: 'hold' }
  | { readonly kind: 'unhold' }
  /** A request of the phone within the call. */
  | { readonly kind: 'sip'; readonly method: string; readonly contentType: string; readonly body: string };

/** A call that tells what the other party does by itself. */
export interface WatchedCall {
  /**
   * Tells of every notice until the returned function is called. A digit is offered here only while no block listens
   * for digits; when the watcher answers true it is used up, else it is kept for the next block that listens.
   */
  watch(watcher: (notice: CallNotice) => boolean): () => void;
}

export function isWatched(call: CallPort): call is CallPort & WatchedCall {
  return hasAbility<WatchedCall>(call, ['watch']);
}
