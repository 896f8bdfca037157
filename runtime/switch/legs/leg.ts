/** What every leg of a dialog can do, and what its owner is told. */
import type { DtmfSender } from './dtmf-sender.ts';
import type { DialogTags, ReinviteAnswer, SdpOrigin } from '../../signalling/index.ts';
import type { CodecName, EndpointServer, MediaEndpoint } from '../../media/index.ts';
import type { SoundPath } from '../sound/media-path.ts';
import type { HomeOf, PartyFacts, SipPlace } from '../../callstore/index.ts';
import type { Party } from './party.ts';
import type { ShownCaller } from './shown-caller.ts';

/** Why a dialog or one of its legs ended. */
export interface EndCause {
  /** `external`: by an operation, so that neither side is marked as the one that hung up. */
  readonly by: 'a' | 'b' | 'external' | 'transfer' | 'failure';
  /** SIP status for a caller who was not answered yet. */
  readonly status: number;
  readonly reason: string;
  /** Reason header of the BYE to a phone that has answered (RFC 3326). */
  readonly header?: string;
}

/** A request that a phone sent within its call: INFO, MESSAGE or NOTIFY. */
export interface PhoneMessage {
  readonly method: string;
  readonly contentType: string;
  readonly body: string;
}

/** The current owner of a leg: a dialog, or a scenario that serves a phone before it is connected. */
export interface LegOwner {
  /**
   * The leg ended by itself.
   * @param lost its phone or a server was lost: nobody hung up or cancelled
   */
  legEnded(leg: Leg, reason: string, lost?: boolean): void;
  /**
   * The far end holds or resumes the call.
   * @returns settles when the media server has been told; never rejects
   */
  legHeld(leg: Leg, held: boolean): Promise<void>;
  /** The leg was ended from outside, e.g. by its conference, and the call ends with it. */
  legRemoved(leg: Leg, reason: string): void;
  /**
   * The far end offers a session description within the call.
   * @param sound takes it as an offer of sound
   * @returns the answer; undefined where it is to be taken as an offer of sound
   */
  legOffered?(
    leg: Leg,
    offer: string,
    sound: () => Promise<ReinviteAnswer>,
    cancelled?: AbortSignal,
  ): Promise<ReinviteAnswer> | undefined;
  /** The present description for the far end, where it is not that of its endpoint's sound. */
  legDescription?(leg: Leg): string | undefined;
  /** The far end sent a request within the call. */
  legMessaged?(leg: Leg, message: PhoneMessage): void;
}

/** A phone that can take a fax in place of the sound. */
export interface FaxSide {
  readonly endpoint: MediaEndpoint;
  /**
   * Offers the phone a session description within the call, and returns its answer.
   * @param unwanted takes the offer back, if the phone has not answered
   * @throws ReinviteRefused; any error when the phone is gone
   */
  offer(sdp: string, unwanted?: AbortSignal): Promise<string>;
  /** A session description with the origin and version of the phone's session. */
  describe(sdp: string): string;
  /** Logs an error, unless the phone is gone. */
  failed(error: unknown): void;
}

/** What a device accepts beside calls. */
export interface Device {
  /** Events that it listed in Allow-Events, lower case (RFC 6665 section 8.2.2). */
  readonly allowEvents: ReadonlySet<string>;
  /** Sends a NOTIFY; false when no dialog with the device is left to send it in. */
  notify(event: string): boolean;
}

/** One side of a dialog: a phone, a call on its way to a phone, or a scenario. */
export interface Leg {
  readonly callid: string;
  readonly party: Party;
  /** What the history of calls says of the party beyond its number and account. */
  readonly about?: Pick<PartyFacts, 'conference' | 'run'> | undefined;
  /** The leg's media; undefined before it is prepared, and on a leg without media. */
  readonly endpoint: MediaEndpoint | undefined;
  /** The media server of its sound, once that is decided. Two legs can be connected only on one media server. */
  readonly mediaServer: EndpointServer | undefined;
  /** True while the far end holds the call. */
  readonly held: boolean;
  owner: LegOwner | undefined;
  /** True for a phone from its answer on. Absent on other legs. */
  readonly isAnswered?: boolean;
  /** On a leg without an endpoint: the path of the other side's sound, e.g. into a conference. */
  pathFor?(endpoint: MediaEndpoint): SoundPath;
  /** Sends digits to the far end; absent before its answer. */
  readonly dtmf?: DtmfSender;
  /** The far end where it is a phone that has answered. */
  readonly fax?: FaxSide | undefined;
  /** The device at the far end, if any. */
  readonly device?: Device | undefined;
  /** Tags of the SIP dialogs with the far end: one of an answered phone, any number of a ringing one. */
  readonly tags?: readonly DialogTags[];
  /** The SIP dialog with the far end, once it has answered. */
  readonly sipPlace?: SipPlace | undefined;
  /** The node that has this SIP dialog; undefined: this one. */
  readonly home?: HomeOf | undefined;
  /** Id and version of the session that the far end has been told. */
  readonly sdpOrigin?: SdpOrigin;
  /** The other party of the dialog holds or resumes the call. Only scenarios use this. */
  peerHeld?(held: boolean): void;
  /** The other party's phone sent a request within the call. Only scenarios use this. */
  peerMessaged?(message: PhoneMessage): void;
  /** The leg has a new other party, in another dialog. Only scenarios use this. */
  peerChanged?(): void;
  /** Ends what a scenario plays to the other party and hears from it; settles when that party's media is free. */
  quiet?(): Promise<void>;
  /** Ends the leg by BYE, CANCEL or a final answer, as its state requires. Idempotent; the owner is not told. */
  release(cause: EndCause): void;
}

/** The side that placed the call, which is told of ringing, early media and the answer. */
export interface CallingLeg extends Leg {
  /** The number and name that it shows, where they are not its party's. */
  readonly shownAs?: ShownCaller | undefined;
  /** The codec that its phone has or will have; undefined for a leg without a phone. */
  readonly codec?: CodecName | undefined;
  /** True when this side is over: it hung up, was lost, or was released. */
  readonly ended: boolean;
  /** The other side rings. */
  ring(): void;
  /**
   * Opens the endpoint for early media or the answer, unless it is open already. Undefined for a leg without media.
   * @param on the required media server; an endpoint on another one moves, with a re-INVITE to the phone
   * @throws MediaError, with status 488 when it cannot move
   */
  prepareMedia(on?: EndpointServer): Promise<MediaEndpoint | undefined>;
  /**
   * Early media of the other side can be heard on the endpoint.
   * @returns false when this side cannot hear it before the answer
   */
  earlyMedia(): boolean;
  /**
   * The other side answered. Rejects when this side is gone.
   * @param room number of the room, when the other side is a conference
   */
  answered(room?: string): Promise<void>;
}
