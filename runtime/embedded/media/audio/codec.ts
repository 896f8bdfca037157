/** What all codecs of the server have in common. */
import type { Rate } from './format.ts';

/** Names as in session descriptions. */
export type CodecName = 'opus' | 'G722' | 'PCMU' | 'PCMA';

/** An audio codec. */
export interface Codec {
  readonly name: CodecName;
  /** RTP payload type: a static one (RFC 3551 table 4), or the one of own offers. */
  readonly payloadType: number;
  /** Samples a second on this server. */
  readonly rate: Rate;
  /** Timestamp units a second in RTP. */
  readonly clockRate: 8000 | 48_000;
  /** Average bits a second, as events show it. */
  readonly bitRate: number;
}

/** What a far end says of a codec in its `a=fmtp` line: names in lower case. */
export type FormatParameters = ReadonlyMap<string, string>;

/** An encoder and a decoder of one leg, with their states. */
export interface Voice {
  /**
   * Decodes a packet's payload.
   *
   * @returns samples written to `target`; 0 for a payload that cannot be decoded
   */
  decode(payload: Uint8Array, target: Int16Array): number;
  /**
   * Fills the gap of a lost packet of the length of the last one.
   *
   * @param next the payload after the gap, which may hold a copy of the lost sound
   * @returns samples written to `target`; 0 when this codec leaves gaps
   */
  conceal(next: Uint8Array | undefined, target: Int16Array): number;
  /**
   * Encodes a frame; undefined for silence.
   *
   * @returns octets written to `target` from `offset` on; 0 when there is nothing to send (DTX)
   */
  encode(frame: Int16Array | undefined, target: Uint8Array, offset: number): number;
  /** Gives its memory back. */
  free(): void;
}
