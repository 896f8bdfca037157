/** What the node of a phone's call and the node of its SIP dialog ask each other. Plain JSON. */
import type { HomeOf } from '../../callstore/index.ts';
import type { DialogTags, ReinviteAnswer, SipDialogHandlers, SipDialogPlace } from '../../signalling/index.ts';

/** The node of the call asks the phone's home. */
export const DO = 'phones.do';
/** Another node has the call from now on. */
export const ATTACH = 'phones.attach';
/** The phone's home tells the node of the call. */
export const EVENT = 'phones.event';

export type PhoneOrder = {
  readonly key: string;
  /** The node that has the call, or had it. */
  readonly from: string;
} & (
  | { readonly order: 'progress'; readonly sdp?: string | undefined }
  | {
      readonly order: 'reject';
      readonly status: number;
      readonly reason?: string | undefined;
      readonly headers: Readonly<Record<string, string>>;
    }
  | { readonly order: 'accept'; readonly sdp: string; readonly room?: string | undefined }
  | { readonly order: 'bye'; readonly headers: Readonly<Record<string, string>> }
  | { readonly order: 'reinvite'; readonly sdp: string; readonly offer: string }
  /** Cancels this re-INVITE. */
  | { readonly order: 'cancel'; readonly offer: string }
  | {
      readonly order: 'request';
      readonly method: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body?: string | undefined;
    }
  | { readonly order: 'notify'; readonly event: string }
  | { readonly order: 'dtmf'; readonly digit: string }
  | { readonly order: 'tell'; readonly refer: string; readonly line: string; readonly last: boolean }
);

/** What came of an order. */
export interface Done {
  /** Of `accept`. */
  readonly tags?: DialogTags;
  readonly place?: SipDialogPlace | undefined;
  /** The answer to a re-INVITE. */
  readonly sdp?: string;
  /** Of `request`, and of a refused re-INVITE. */
  readonly status?: number;
  /** The phone is gone: it has cancelled, or hung up. */
  readonly gone?: true;
}

/** The end of a phone's call by the phone. */
export interface PhoneEnd {
  readonly reason: string;
  /** Its SIP server or the phone itself was lost: nobody hung up. */
  readonly lost: boolean;
}

export type PhoneEvent = HomeOf &
  (
    | { readonly event: 'ended'; readonly end: PhoneEnd }
    | { readonly event: 'reinvite'; readonly sdp?: string | undefined; readonly offer: string }
    /** The phone has cancelled this re-INVITE. */
    | { readonly event: 'cancelled'; readonly offer: string }
    | { readonly event: 'ack'; readonly sdp: string }
    | { readonly event: 'message'; readonly message: Parameters<SipDialogHandlers['messaged']>[0] }
    | {
        readonly event: 'refer';
        readonly refer: string;
        readonly referTo: string;
        readonly referredBy?: string | undefined;
      }
    | { readonly event: 'referAccepted'; readonly refer: string }
  );

/** The answer to `reinvite` and `refer`. */
export type EventAnswer = ReinviteAnswer;

/** What a node learns when it attaches. */
export interface Attached {
  /** Present when the phone's call is over. */
  readonly end?: PhoneEnd;
}
