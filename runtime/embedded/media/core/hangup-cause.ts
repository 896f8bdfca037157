/** Hangup causes. */

/** Hangup causes by FreeSWITCH's names: Q.850 codes up to 127, FreeSWITCH's own above. */
const CODES: Readonly<Record<string, number>> = {
  NONE: 0,
  UNALLOCATED_NUMBER: 1,
  NO_ROUTE_TRANSIT_NET: 2,
  NO_ROUTE_DESTINATION: 3,
  CHANNEL_UNACCEPTABLE: 6,
  NORMAL_CLEARING: 16,
  USER_BUSY: 17,
  NO_USER_RESPONSE: 18,
  NO_ANSWER: 19,
  SUBSCRIBER_ABSENT: 20,
  CALL_REJECTED: 21,
  NUMBER_CHANGED: 22,
  DESTINATION_OUT_OF_ORDER: 27,
  INVALID_NUMBER_FORMAT: 28,
  FACILITY_REJECTED: 29,
  NORMAL_UNSPECIFIED: 31,
  NORMAL_CIRCUIT_CONGESTION: 34,
  NETWORK_OUT_OF_ORDER: 38,
  NORMAL_TEMPORARY_FAILURE: 41,
  SWITCH_CONGESTION: 42,
  REQUESTED_CHAN_UNAVAIL: 44,
  OUTGOING_CALL_BARRED: 52,
  INCOMING_CALL_BARRED: 54,
  BEARERCAPABILITY_NOTAVAIL: 58,
  SERVICE_UNAVAILABLE: 63,
  SERVICE_NOT_IMPLEMENTED: 79,
  INVALID_CALL_REFERENCE: 81,
  INCOMPATIBLE_DESTINATION: 88,
  MANDATORY_IE_MISSING: 96,
  RECOVERY_ON_TIMER_EXPIRE: 102,
  PROTOCOL_ERROR: 111,
  INTERWORKING: 127,
  ORIGINATOR_CANCEL: 487,
  ALLOTTED_TIMEOUT: 802,
  MEDIA_TIMEOUT: 804,
  PICKED_OFF: 805,
};

/** The cause by name or number; like FreeSWITCH, NORMAL_CLEARING for an unknown or empty one. */
export function hangupCause(text: string): string {
  const name = text.trim().toUpperCase();
  if (name in CODES) return name;
  const byNumber = Object.entries(CODES).find(([, code]) => String(code) === name);
  return byNumber?.[0] ?? 'NORMAL_CLEARING';
}

/** The code of a cause: of Q.850, or FreeSWITCH's own. */
export function causeCode(cause: string): number {
  return CODES[cause] ?? CODES.NORMAL_CLEARING ?? 16;
}

/** The Reason header of a BYE or a failure response (RFC 3326). */
export function reasonHeader(cause: string): string {
  const code = causeCode(cause);
  return code <= 127 ? `Q.850;cause=${code};text="${cause}"` : `SIP;cause=${code};text="${cause}"`;
}
