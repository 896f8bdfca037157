/** AEAD_AES_128_GCM (RFC 7714). */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { SessionKeys } from './derive.ts';
import { ENCRYPTED, RTCP_CLEAR_OCTETS, type Transform } from './transform.ts';

const CIPHER = 'aes-128-gcm';
const TAG_OCTETS = 16;
const INDEX_OCTETS = 4;

/** The initialisation vector of a packet, shared by all streams of the thread. */
const vector = Buffer.alloc(12);

export class Gcm implements Transform {
  readonly #rtp: SessionKeys;
  readonly #rtcp: SessionKeys;

  constructor(rtp: SessionKeys, rtcp: SessionKeys) {
    this.#rtp = rtp;
    this.#rtcp = rtcp;
  }

  sealRtp(packet: Buffer, clear: number, length: number, ssrc: number, index: number): number {
    return seal(this.#rtp, packet, clear, length, ssrc, index);
  }

  openRtp(packet: Buffer, clear: number, ssrc: number, index: number): number {
    const length = packet.length - TAG_OCTETS;
    if (length < clear) return -1;
    return open(this.#rtp, packet, clear, length, ssrc, index);
  }

  /** The index word is authenticated, and follows the tag (RFC 7714 section 9.2). */
  sealRtcp(packet: Buffer, length: number, ssrc: number, index: number): number {
    const word = Buffer.alloc(INDEX_OCTETS);
    word.writeUInt32BE(ENCRYPTED + index);
    const end = seal(this.#rtcp, packet, RTCP_CLEAR_OCTETS, length, ssrc, index, word);
    word.copy(packet, end);
    return end + INDEX_OCTETS;
  }

  openRtcp(packet: Buffer, ssrc: number): number {
    const word = this.rtcpIndex(packet);
    if (word === undefined) return -1;
    const end = packet.length - INDEX_OCTETS;
    const length = end - TAG_OCTETS;
    const appended = packet.subarray(end);
    // Without encryption the whole packet is authenticated only (RFC 7714 section 9.3).
    const clear = word >= ENCRYPTED ? RTCP_CLEAR_OCTETS : length;
    return open(this.#rtcp, packet, clear, length, ssrc, word % ENCRYPTED, appended);
  }

  rtcpIndex(packet: Buffer): number | undefined {
    const at = packet.length - INDEX_OCTETS;
    return at - TAG_OCTETS < RTCP_CLEAR_OCTETS ? undefined : packet.readUInt32BE(at);
  }
}

function seal(
  { encryption, salt }: SessionKeys,
  packet: Buffer,
  clear: number,
  length: number,
  ssrc: number,
  index: number,
  appended?: Buffer,
): number {
  setVector(salt, ssrc, index);
  const cipher = createCipheriv(CIPHER, encryption, vector);
  cipher.setAAD(authenticated(packet, clear, appended));
  cipher.update(packet.subarray(clear, length)).copy(packet, clear);
  cipher.final();
  cipher.getAuthTag().copy(packet, length);
  return length + TAG_OCTETS;
}

function open(
  { encryption, salt }: SessionKeys,
  packet: Buffer,
  clear: number,
  length: number,
  ssrc: number,
  index: number,
  appended?: Buffer,
): number {
  setVector(salt, ssrc, index);
  const decipher = createDecipheriv(CIPHER, encryption, vector);
  decipher.setAAD(authenticated(packet, clear, appended));
  decipher.setAuthTag(packet.subarray(length, length + TAG_OCTETS));
  const plain = decipher.update(packet.subarray(clear, length));
  try {
    decipher.final();
  } catch {
    return -1; // Node throws at a wrong tag
  }
  plain.copy(packet, clear);
  return length;
}

function authenticated(packet: Buffer, clear: number, appended: Buffer | undefined): Buffer {
  const header = packet.subarray(0, clear);
  return appended === undefined ? header : Buffer.concat([header, appended]);
}

/** SSRC and index, combined with the salt (RFC 7714 sections 8.1 and 9.1). */
function setVector(salt: Buffer, ssrc: number, index: number): void {
  vector.writeUInt16BE(salt.readUInt16BE(0), 0);
  vector.writeUInt32BE((salt.readUInt32BE(2) ^ ssrc) >>> 0, 2);
  vector.writeUInt16BE(salt.readUInt16BE(6) ^ Math.floor(index / 2 ** 32), 6);
  vector.writeUInt32BE((salt.readUInt32BE(8) ^ (index % 2 ** 32)) >>> 0, 8);
}
