/** What an endpoint needs of its media server, and how others find its channel. */
import type { CodecWish } from './codec-order.ts';
import type { ConferenceMix } from './conference-mix.ts';
import type { MediaEndpoint } from './endpoint.ts';
import type { FiguresDesk } from './media-figures.ts';
import type { RecordingNotices } from './recording-notices.ts';
import type { OfferedKeys, SrtpPolicy } from './sdp-streams.ts';

/** Wishes for a new endpoint. */
export interface EndpointWish {
  /** The phone's session description to answer; without it the endpoint makes an offer. */
  readonly remoteSdp?: string | undefined;
  /** Name of the leg's SIP server, so that both are lost together or not at all. */
  readonly via?: string | undefined;
  /** True when its far end only listens. */
  readonly mayBeSilent?: boolean;
  /** Encryption of the sound to and from the far end. */
  readonly srtp?: SrtpPolicy | undefined;
  /** IP address that the far end's SIP comes from: the session description names the address that is reached from there. */
  readonly peer?: string | undefined;
  /** Codecs wanted for the far end; undefined: the media server's, in its order. */
  readonly codecs?: CodecWish | undefined;
  /** Keys that the offer has; undefined: `sdes`. */
  readonly keys?: OfferedKeys | undefined;
}

/** The media server of an endpoint. */
export interface EndpointServer {
  readonly name: string;
  /** Address of this node for sound from the media server. */
  readonly listenAddress: string;
  readonly recordings: RecordingNotices;
  /** The figures of its channels at their end. */
  readonly figures: FiguresDesk;
  /** Creates another endpoint on the same media server. */
  createEndpoint(wish: EndpointWish): Promise<MediaEndpoint>;
  /** Creates a conference on the same media server. */
  conference(name: string): ConferenceMix;
  /** Registers a new endpoint. */
  entered(endpoint: MediaEndpoint): void;
  left(endpoint: MediaEndpoint): void;
}

/** A channel, as another node can reach it. */
export interface ChannelPlace {
  /** Name of the media server. */
  readonly server: string;
  readonly uuid: string;
  /** The SIP dialog between the node and the media server; undefined where its SIP server is not known. */
  readonly sip:
    | {
        /** Name of the SIP server. */
        readonly server: string;
        readonly dialog: string;
        readonly callId: string;
        readonly localTag: string;
        readonly remoteTag: string;
      }
    | undefined;
}

/** What is known of a far end before its session description. */
export type FarEndWish = Omit<EndpointWish, 'remoteSdp' | 'mayBeSilent'>;
