/** The facts of a call, as its history keeps them: plain JSON, so that they can wait in a file. */

/** A party as others see it, and the account behind it. */
export interface PartyFacts {
  readonly kind: 'sipuser' | 'provider' | 'ivr' | 'conference' | 'unknown';
  readonly domain: string;
  /** As shown to the other side. */
  readonly number: string;
  /** As shown to the other side; null without one. */
  readonly name: string | null;
  readonly login?: string;
  readonly sipUserId?: string;
  readonly userId?: string;
  /** The provider of a party behind a trunk. */
  readonly trunk?: {
    readonly id: string;
    readonly code: string;
    /** Name of the gateway that was called, of a provider with several. */
    readonly gateway?: string;
  };
  /** What the signature of its call is worth (`verstat`), where that was checked. */
  readonly verified?: { readonly verstat: string; readonly attestation?: string };
  readonly conference?: { readonly confid: string; readonly room: string };
  /** The run of a scenario's party. */
  readonly run?: { readonly id: string; readonly scenario: string };
}

/** One leg, also of a contact that was called in vain. Times are milliseconds since the epoch. */
export interface LegFacts {
  readonly side: 'a' | 'b';
  readonly callid: string;
  /** Call-ID between a provider and this platform, where it is another one. */
  readonly trunkCallid?: string;
  readonly party: PartyFacts;
  readonly began: number;
  readonly ringing?: number;
  readonly answered?: number;
  readonly ended?: number;
  /** Final SIP status: of a called party what it answered, of the caller what it was answered. Null without one. */
  readonly status: number | null;
  readonly reason: string | null;
  /** The address could not be reached. */
  readonly unreached?: true;
}

/** What the media server counted of a leg's sound. */
export interface MediaFacts {
  /** Negotiated codec, e.g. `PCMU`. */
  readonly codec: string;
  /** RTP packets received from the far end, and sent to it. */
  readonly packetsIn: number;
  readonly packetsOut: number;
  /** Missing packets of the far end. */
  readonly lostIn: number;
  /** Standard deviation of the time between two packets of the far end, ms, at its greatest. */
  readonly jitterMsIn: number;
  /** Mean opinion score of what was received; null when nothing was. */
  readonly mosIn: number | null;
  /** Lost packets and jitter (RFC 3550) that the far end reported of what was sent; null without a report. */
  readonly lostOut: number | null;
  readonly jitterMsOut: number | null;
}

/** A call. Times are milliseconds since the epoch. */
export interface CallFacts {
  /** `inviteid` of the call's events: unique for all time. */
  readonly id: string;
  readonly dialogid: string;
  readonly dialled: string;
  /** Domain of what was dialled. */
  readonly dialledDomain: string;
  readonly began: number;
  readonly ringing?: number;
  readonly answered?: number;
  readonly legs: readonly LegFacts[];
  readonly labels: readonly string[];
  /** Value of Referred-By; absent without one. */
  readonly referredBy?: string;
  /** The operation that made the call, or a call before it in the chain of transfers, and its domain. */
  readonly operation?: { readonly id: string; readonly domain: string } | undefined;
  /** Ids of the calls that it replaced, and of those that replaced it. */
  readonly replaced: readonly string[];
  readonly replacedBy: readonly string[];
  /** Absent until the end. */
  readonly end?: CallEnding;
  /** In the order of `legs`; absent until the media server has told them. */
  readonly media?: readonly (MediaFacts | null)[];
}

/** How a call ended. */
export interface CallEnding {
  readonly at: number;
  /** `external`: an operation, or the node; `lost`: the node was killed during the call. */
  readonly by: 'a' | 'b' | 'external' | 'transfer' | 'failure' | 'lost';
  /** SIP status for a caller without an answer. */
  readonly status: number | null;
  readonly reason: string | null;
}

/** How a call ended, as the caller saw it. */
export const CALL_RESULTS = [
  'answered',
  'busy',
  'no_answer',
  'cancelled',
  'rejected',
  'redirected',
  'unreachable',
  'unknown_number',
  'replaced',
  'failed',
  'node_died',
] as const;
export type CallResult = (typeof CALL_RESULTS)[number];

/** Receives the facts of each call. It must not throw, and must be quick: it is called within the call. */
export interface CallHistory {
  /** The call began, or was answered. */
  going(facts: CallFacts): void;
  /** The call goes on at another node, whose history has it. @param id of the call */
  moved?(id: string): void;
  /**
   * The call is over: `facts.end` is there.
   * @param media figures of the legs in the order of `facts.legs`, which the media server tells a little later; null
   * for a leg without, or one that goes on in another call
   */
  over(facts: CallFacts, media?: Promise<readonly (MediaFacts | null)[]>): void;
}
