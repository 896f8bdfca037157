/** RTP packets. */

/** Octets of the fixed RTP header (RFC 3550 section 5.1). */
export const RTP_HEADER_BYTES = 12;

const VERSION_2 = 0x80;

/** The parts of an RTP packet that the server uses. A session reuses one object for all packets. */
export interface RtpPacket {
  marker: boolean;
  payloadType: number;
  sequence: number;
  timestamp: number;
  ssrc: number;
  /** Where the payload starts in the datagram, after CSRCs and header extension. */
  payloadOffset: number;
  /** Payload octets, without padding. */
  payloadLength: number;
}

/** An empty packet to parse into. */
export function emptyPacket(): RtpPacket {
  return { marker: false, payloadType: 0, sequence: 0, timestamp: 0, ssrc: 0, payloadOffset: 0, payloadLength: 0 };
}

/**
 * Reads an RTP header (RFC 3550 section 5.1) with the checks of appendix A.1.
 *
 * @param datagram the received datagram
 * @param into filled when the result is true
 * @returns false when it is not an RTP packet (too short, other version, inconsistent lengths, RTCP)
 */
export function parseRtp(datagram: Uint8Array, into: RtpPacket): boolean {
  const offset = rtpHeaderOctets(datagram);
  if (offset < 0) return false;
  const size = datagram.length;
  const first = datagram[0] as number;
  const second = datagram[1] as number;
  const padding = first & 0x20 ? (datagram[size - 1] as number) : 0;
  if ((first & 0x20 && padding === 0) || offset + padding > size) return false;
  into.marker = (second & 0x80) !== 0;
  into.payloadType = second & 0x7f;
  into.sequence = ((datagram[2] as number) << 8) | (datagram[3] as number);
  into.timestamp = readUint32(datagram, 4);
  into.ssrc = readUint32(datagram, 8);
  into.payloadOffset = offset;
  into.payloadLength = size - offset - padding;
  return true;
}

/** Octets of the header with CSRCs and extension; -1 when it is not an RTP packet, or ends within its header. */
export function rtpHeaderOctets(datagram: Uint8Array): number {
  const size = datagram.length;
  if (size < RTP_HEADER_BYTES) return -1;
  const first = datagram[0] as number;
  if ((first & 0xc0) !== VERSION_2 || isRtcp(datagram)) return -1;
  let offset = RTP_HEADER_BYTES + (first & 0x0f) * 4;
  if (first & 0x10) {
    if (offset + 4 > size) return -1;
    offset += 4 + (((datagram[offset + 2] as number) << 8) | (datagram[offset + 3] as number)) * 4;
  }
  return offset > size ? -1 : offset;
}

/** Whether the second octet is that of RTCP, which may be multiplexed on the port of RTP (RFC 5761 section 4). */
export function isRtcp(datagram: Uint8Array): boolean {
  const second = datagram[1] as number;
  return second >= 192 && second <= 223;
}

/** Writes the fixed header; the payload follows at RTP_HEADER_BYTES. */
export function writeRtpHeader(
  target: Uint8Array,
  marker: boolean,
  payloadType: number,
  sequence: number,
  timestamp: number,
  ssrc: number,
): void {
  target[0] = VERSION_2;
  target[1] = (marker ? 0x80 : 0) | payloadType;
  target[2] = (sequence >> 8) & 0xff;
  target[3] = sequence & 0xff;
  writeUint32(target, 4, timestamp);
  writeUint32(target, 8, ssrc);
}

/** Distance from `from` to `to` in sequence numbers, -32768..32767 (RFC 1982 arithmetic). */
export function sequenceDistance(from: number, to: number): number {
  return ((to - from) << 16) >> 16;
}

/** Distance from `from` to `to` in timestamp units, modulo 2^32. */
export function timestampDistance(from: number, to: number): number {
  return (to - from) | 0;
}

function readUint32(bytes: Uint8Array, offset: number): number {
  return (
    (((bytes[offset] as number) << 24) |
      ((bytes[offset + 1] as number) << 16) |
      ((bytes[offset + 2] as number) << 8) |
      (bytes[offset + 3] as number)) >>>
    0
  );
}

function writeUint32(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = (value >>> 24) & 0xff;
  bytes[offset + 1] = (value >>> 16) & 0xff;
  bytes[offset + 2] = (value >>> 8) & 0xff;
  bytes[offset + 3] = value & 0xff;
}
