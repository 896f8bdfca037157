/** Messages between the media server and its thread for DTLS handshakes. */
import type { SrtpSuiteName } from '../../../sip-facts/index.ts';

export type ToDtls =
  | { readonly type: 'open'; readonly id: number }
  | { readonly type: 'close'; readonly id: number }
  | { readonly type: 'data'; readonly id: number; readonly data: Uint8Array };

/** The keys of a finished handshake: master key with salt of each direction, and the far end's certificate (DER). */
export interface DtlsKeys {
  readonly suite: SrtpSuiteName;
  readonly local: Uint8Array;
  readonly remote: Uint8Array;
  readonly certificate: Uint8Array;
}

export type FromDtls =
  /** SHA-256 of the server's certificate, as in `a=fingerprint`. */
  | { readonly type: 'ready'; readonly fingerprint: string }
  | { readonly type: 'data'; readonly id: number; readonly data: Uint8Array }
  | { readonly type: 'keys'; readonly id: number; readonly keys: DtlsKeys }
  | { readonly type: 'failed'; readonly id: number; readonly reason: string }
  /** After the keys: the far end has closed its session. */
  | { readonly type: 'closed'; readonly id: number };
