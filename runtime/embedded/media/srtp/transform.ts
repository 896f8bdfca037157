/** What a suite does to the packets of one direction. */

/** Octets that a packet may grow by: the tag of AES-GCM, and the index of SRTCP. */
export const MOST_OVERHEAD = 20;

/** Octets of an RTCP packet that stay in clear (RFC 3711 section 3.4). */
export const RTCP_CLEAR_OCTETS = 8;

/** Set in the index of an SRTCP packet: the packet is encrypted. */
export const ENCRYPTED = 0x80000000;

/**
 * Seals and opens packets in place; a buffer has room for MOST_OVERHEAD more octets. `open` returns the length of the plain packet,
 * or -1 when it is not authentic.
 */
export interface Transform {
  /**
   * @param clear octets of the RTP header, which are authenticated only
   * @param index rollover counter * 65536 + sequence number
   * @returns length of the sealed packet
   */
  sealRtp(packet: Buffer, clear: number, length: number, ssrc: number, index: number): number;
  openRtp(packet: Buffer, clear: number, ssrc: number, index: number): number;
  /** @param index 31 bits */
  sealRtcp(packet: Buffer, length: number, ssrc: number, index: number): number;
  openRtcp(packet: Buffer, ssrc: number): number;
  /** The index word of a sealed RTCP packet, with its flag ENCRYPTED; undefined for one that is too short. */
  rtcpIndex(packet: Buffer): number | undefined;
}
