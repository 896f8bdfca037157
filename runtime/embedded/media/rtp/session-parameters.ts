/** What an RTP session is made of, and what SDP negotiates for it. */
import type { Codec, FormatParameters } from '../audio/codec.ts';
import { PCMA, PCMU } from '../audio/g711.ts';
import type { MediaFigures } from './figures.ts';
import type { ThreadLag } from './thread-lag.ts';
import type { Ticker } from './ticker.ts';

/** What far ends may send of G.711, whichever of the two was agreed. */
export const G711_FORMATS: ReadonlyMap<number, Codec> = new Map(
  [PCMU, PCMA].map((codec) => [codec.payloadType, codec]),
);

/** The parameters of a session that SDP has negotiated. */
export interface RtpParameters {
  /** Codec of sent packets. */
  readonly codec: Codec;
  /** Payload type of sent packets; by default the codec's own. */
  readonly payloadType?: number;
  /** Codecs of received packets by payload type, besides G.711 where that is the codec. */
  readonly formats?: ReadonlyMap<number, Codec>;
  /** What the far end wants to get. */
  readonly wanted?: FormatParameters;
  /** Payload type of telephone-event; undefined if not negotiated. */
  readonly telephoneEvent: number | undefined;
  /** Clock of its durations, units a second; by default 8000. */
  readonly eventClock?: number;
  /** Far end's media address; port 0 for none. */
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** Whether the direction attributes allow sending (RFC 3264 section 6.1). */
  readonly maySend: boolean;
  /** Whether they allow receiving. */
  readonly mayReceive: boolean;
}

/** Shared by all sessions of a server. */
export interface RtpEnvironment {
  readonly ticker: Ticker;
  readonly figures: MediaFigures;
  readonly lag: ThreadLag;
}

/** Replaces octets of G.711 by a table, in place. */
export function translateOctets(bytes: Uint8Array, offset: number, length: number, table: Uint8Array): void {
  for (let index = offset; index < offset + length; index += 1) bytes[index] = table[bytes[index] as number] as number;
}
