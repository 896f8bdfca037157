import type { Answer, CallPort } from '../call-port.ts';
import { withAbility } from './capability.ts';

/** Requests that may be sent within a call. */
export const MESSAGE_METHODS = ['INFO', 'MESSAGE', 'NOTIFY'] as const;
export type MessageMethod = (typeof MESSAGE_METHODS)[number];

/** A request within a call (RFC 6086 INFO, RFC 3428 MESSAGE, RFC 6665 NOTIFY). */
export interface SipMessage {
  readonly method: MessageMethod;
  readonly contentType: string;
  readonly body: string;
  /** Header fields beside Content-Type. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A call within which requests can be sent to the other party's phone. */
export interface MessagingCall {
  /** @returns the phone's answer; 408 when there is none, 481 when the call is over */
  sendMessage(message: SipMessage): Promise<Answer>;
}

/** @throws ScenarioError code `unavailable` */
export function messagingCall(call: CallPort): CallPort & MessagingCall {
  return withAbility<MessagingCall>(call, ['sendMessage'], 'carry SIP messages');
}
