/** SIP requests allowed within a call. */
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
