/** SRTP of the test phone, by werift's implementation. */
import { RtpHeader, RtpPacket, SrtcpSession, SrtpSession } from 'werift';

/** Suites by their names in `a=crypto`, with the number of the DTLS-SRTP profile and the octets of the master key. */
const SUITES = {
  AES_CM_128_HMAC_SHA1_80: { profile: 1, salt: 14 },
  AEAD_AES_128_GCM: { profile: 7, salt: 12 },
} as const;

export type SrtpSuite = keyof typeof SUITES;

/** Protects the packets of one stream in each direction. */
export interface Protection {
  seal(packet: Buffer): Buffer;
  /** Undefined for a packet that is not authentic. */
  open(packet: Buffer): Buffer | undefined;
  readonly rtcp: SrtcpSession;
}

/** Octets of a master key with its salt. */
export function keyOctets(suite: SrtpSuite): number {
  return 16 + SUITES[suite].salt;
}

export function protection(suite: SrtpSuite, local: Buffer, remote: Buffer): Protection {
  const keys = {
    localMasterKey: local.subarray(0, 16),
    localMasterSalt: local.subarray(16),
    remoteMasterKey: remote.subarray(0, 16),
    remoteMasterSalt: remote.subarray(16),
  };
  const { profile } = SUITES[suite];
  const session = new SrtpSession({ keys, profile });
  return {
    rtcp: new SrtcpSession({ keys, profile }),
    seal: (packet) => session.encrypt(RtpPacket.deSerialize(packet).payload, RtpHeader.deSerialize(packet)),
    open: (packet) => {
      try {
        return session.decrypt(packet);
      } catch {
        return undefined;
      }
    },
  };
}
