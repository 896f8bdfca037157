/** What another node needs of a live call when this one dies: plain JSON, so that it can lie outside of the process. */
import type { CallFacts } from './call-facts.ts';
import type { DialogEntry } from './memory-callstore.ts';

/** A phone's SIP dialog, as its SIP server knows it. */
export interface SipPlace {
  /** Name of the SIP server. */
  readonly server: string;
  /** The SIP server's name of the dialog. */
  readonly dialog: string;
  readonly callId: string;
  readonly localTag: string;
  readonly remoteTag: string;
}

/** Where a SIP dialog is whose call another node has. */
export interface HomeOf {
  /** Id of the node's process. */
  readonly home: string;
  /** The phone's name there. */
  readonly key: string;
}

/** One side of a call. */
export interface SharedSide {
  readonly callid: string;
  readonly side: 'a' | 'b';
  readonly number: string;
  readonly uris: readonly string[];
  readonly domain: string;
  /** Id of the sipuser; undefined for other parties. */
  readonly sipUserId: string | undefined;
  /** As the other side sees it. */
  readonly shown: { readonly uri: string; readonly name: string | undefined };
  /** Undefined for a party without a SIP dialog, or before its answer. */
  readonly sip: SipPlace | undefined;
  /** The node that has the SIP dialog; undefined: the one that has the call. */
  readonly home: HomeOf | undefined;
  /** Id and version of the session description that the phone has (RFC 8866 section 5.2). */
  readonly origin: { readonly id: number; readonly version: number } | undefined;
  /** The channel on the media server, and the SIP dialog with it. */
  readonly media: { readonly server: string; readonly uuid: string; readonly sip: SipPlace | undefined } | undefined;
}

export interface SharedCall {
  readonly entry: DialogEntry;
  readonly facts: CallFacts;
  readonly sides: readonly SharedSide[];
}

/** Keeps the live calls of this node where other nodes find them. */
export interface CallIndex {
  /** @param call its present state, asked for when it is written */
  changed(dialogid: string, call: () => SharedCall): void;
  over(dialogid: string): void;
  /**
   * Whether another node has ended the call and told so, as this one stood still. Asked before `over`.
   * @returns a promise where the others have to be asked
   */
  endedElsewhere(dialogid: string): boolean | Promise<boolean>;
}
