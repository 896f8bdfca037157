/** An action of the other party that no block waits for. */
export type CallNotice =
  | { readonly kind: 'dtmf'; readonly digit: string }
  | { readonly kind: 'hold' }
  | { readonly kind: 'unhold' }
  /** A request of the phone within the call. */
  | { readonly kind: 'sip'; readonly method: string; readonly contentType: string; readonly body: string };
