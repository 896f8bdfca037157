/** The alert by which a far end closes its DTLS session. */
import type { CipherContext } from 'werift';

/** Octets of a record's header (RFC 6347 section 4.1). */
const HEADER_OCTETS = 13;
const ALERT = 21;

/** Of an alert (RFC 5246 section 7.2). */
const FATAL = 2;
const CLOSE_NOTIFY = 0;

/** Whether a datagram is an alert, or begins with one. */
export function isAlert(datagram: Buffer): boolean {
  return datagram[0] === ALERT;
}

/**
 * Whether the first record of a datagram closes the session: it is a close_notify, or a fatal alert, and was sealed by the far end's key.
 * werift 0.25 takes alerts in clear for authentic, at any time.
 */
export function closesSession({ cipher, sessionType }: CipherContext, datagram: Buffer): boolean {
  if (!isAlert(datagram) || datagram.length < HEADER_OCTETS) return false;
  const epoch = datagram.readUInt16BE(3);
  const length = datagram.readUInt16BE(11);
  if (epoch === 0 || datagram.length < HEADER_OCTETS + length) return false;
  try {
    const [level, description] = cipher.decrypt(sessionType, datagram.subarray(HEADER_OCTETS, HEADER_OCTETS + length), {
      type: ALERT,
      version: datagram.readUInt16BE(1),
      epoch,
      sequenceNumber: datagram.readUIntBE(5, 6),
    });
    return level === FATAL || description === CLOSE_NOTIFY;
  } catch {
    return false; // not authentic
  }
}
