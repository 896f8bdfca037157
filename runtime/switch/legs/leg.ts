import type { DtmfSender } from './dtmf-sender.ts';
import type { DialogTags } from '../../signalling/index.ts';
import type { EndpointServer, MediaEndpoint } from '../../media/index.ts';
import type { SoundPath } from '../sound/media-path.ts';
import type { Party } from './party.ts';

/** Why a dialog or one of its legs ended. */
export interface EndCause {
  /** `external`: by an operation, so that neither side is marked as the one that hung up. */
  readonly by: 'a' | 'b' | 'external' | 'transfer' | 'failure';
  /** SIP status for a caller who was not answered yet. */
  readonly status: number;
  readonly reason: string;
}

/** A request that a phone sent within its call: INFO, MESSAGE or NOTIFY. */
export interface PhoneMessage {
  readonly method: string;
  readonly contentType: string;
  readonly body: string;
}

/** Whoever a leg belongs to at the moment: a dialog. A transfer gives the leg another owner. */
export interface LegOwner {
  /** The leg ended by itself: the far end hung up, cancelled, or was lost. */
  legEnded(leg: Leg, reason: string): void;
  /** The far end put the call on hold, or took it back. */
  legHeld(leg: Leg, held: boolean): void;
  /** Somebody who is neither side ended the leg: the call is to be over. */
  legRemoved(leg: Leg, reason: string): void;
  /** The far end sent a request within the call. */
  legMessaged?(leg: Leg, message: PhoneMessage): void;
}

/** What a device can be asked for beside calls. */
export interface Device {
  /** Events that it listed in Allow-Events, lower case (RFC 6665 section 8.2.2). */
  readonly allowEvents: ReadonlySet<string>;
  /** Sends a NOTIFY; false when the device cannot be asked (any more). */
  notify(event: string): boolean;
}

/** One side of a dialog: a phone, a call on its way to a phone, or a scenario. */
export interface Leg {
  readonly callid: string;
  readonly party: Party;
  /** The media of the leg, where it has any by now. */
  readonly endpoint: MediaEndpoint | undefined;
  /** Where its sound is, or will be, where that is decided; sounds on different media servers cannot be connected. */
  readonly mediaServer: EndpointServer | undefined;
  /** True while the far end holds the call. */
  readonly held: boolean;
  owner: LegOwner | undefined;
  /** For a leg without an endpoint that takes the other side's sound elsewhere: the way there. */
  pathFor?(endpoint: MediaEndpoint): SoundPath;
  /** Sends digits to the far end; absent while it has not answered. */
  readonly dtmf?: DtmfSender;
  /** The device at the far end, where there is one. */
  readonly device?: Device | undefined;
  /** Of the SIP dialogs with the far end: one with a phone that talks, any number with one that rings. */
  readonly tags?: readonly DialogTags[];
  /** The other party of the dialog holds the call, or takes it back; only scenarios want to know. */
  peerHeld?(held: boolean): void;
  /** The other party's phone sent a request within the call; only scenarios want to know. */
  peerMessaged?(message: PhoneMessage): void;
  /** Somebody else is the other party from now on, in another dialog; only scenarios want to know. */
  peerChanged?(): void;
  /** A scenario ends what it plays to the other party, and what it hears; settles when the other's media is free. */
  quiet?(): Promise<void>;
  /** Ends the leg as its state asks: BYE, CANCEL or a final answer. Idempotent; the owner is not told. */
  release(cause: EndCause): void;
}

/** The side that placed the call: what it hears before and when the other side answers. */
export interface CallingLeg extends Leg {
  /** Under which number and name it calls, where those are not its party's. */
  readonly shownAs?: { readonly number: string; readonly name: string | undefined } | undefined;
  /** True when this side is over: it hung up, was lost, or was released. */
  readonly ended: boolean;
  /** The other side rings. */
  ring(): void;
  /**
   * Makes sure that there is an endpoint, for early media or for the answer. Undefined for a leg without media.
   * @param on the media server on which it has to be; one that is elsewhere moves, with a re-INVITE to the phone
   * @throws MediaError, with status 488 when it cannot move
   */
  prepareMedia(on?: EndpointServer): Promise<MediaEndpoint | undefined>;
  /** Early media of the other side can be heard on the endpoint. */
  earlyMedia(): void;
  /**
   * The other side answered. Rejects when this side is gone by now.
   * @param room number of the room, when the other side is a conference
   */
  answered(room?: string): Promise<void>;
}
