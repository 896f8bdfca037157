/** Transport of digits to a phone: telephone-events in the RTP stream (RFC 4733), or INFO requests. */
export const DTMF_PROTOS = ['rfc2833', 'sipinfo'] as const;
export type DtmfProto = (typeof DTMF_PROTOS)[number];
