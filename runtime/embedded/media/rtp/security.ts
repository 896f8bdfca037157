/** How the packets of a session are protected. */

/** Seals and opens packets in place. Lengths of plain packets are those without tag. */
export interface PacketSecurity {
  /** @returns length of the sealed packet; 0 for a packet that must not be sent */
  sealRtp(datagram: Buffer, length: number): number;
  /** @param clear octets of the RTP header @returns length of the plain packet; -1 for one to drop */
  openRtp(datagram: Buffer, clear: number): number;
  sealRtcp(datagram: Buffer, length: number): number;
  openRtcp(datagram: Buffer): number;
  /** Packets that were forged, repeated, or came without a key. */
  readonly rejected: number;
}

/** No protection. */
export const PLAIN: PacketSecurity = {
  sealRtp: (_datagram, length) => length,
  openRtp: (datagram) => datagram.length,
  sealRtcp: (_datagram, length) => length,
  openRtcp: (datagram) => datagram.length,
  rejected: 0,
};
