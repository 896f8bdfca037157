/** AES in counter mode as SRTP uses it (RFC 3711 section 4.1.1). */
import { type Cipheriv, createCipheriv } from 'node:crypto';

const BLOCK = 16;

/** Octets whose key stream is made in one step; the longest packets take several. */
const STEP = 2048;

/** The counter blocks of a step, shared by all streams of the thread. */
const counters = Buffer.alloc(STEP);

/**
 * Key stream of one session key. Node makes a cipher object in some microseconds, much more than it takes to encrypt a packet. So
 * one object in ECB mode, which has no state between blocks, encrypts the counter blocks of all packets.
 */
export class KeyStream {
  readonly #cipher: Cipheriv;
  readonly #salt: Buffer;

  /** @param salt 14 octets */
  constructor(key: Buffer, salt: Buffer) {
    this.#cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false);
    this.#salt = Buffer.concat([salt, Buffer.alloc(BLOCK - salt.length)]);
  }

  /**
   * Encrypts or decrypts octets in place.
   * @param index packet index: 48 bits for RTP, 31 bits for RTCP
   */
  apply(bytes: Uint8Array, from: number, to: number, ssrc: number, index: number): void {
    for (let start = from, block = 0; start < to; start += STEP, block += STEP / BLOCK) {
      const length = Math.min(STEP, to - start);
      const stream = this.#blocks(Math.ceil(length / BLOCK), block, ssrc, index);
      for (let at = 0; at < length; at += 1) bytes[start + at] = (bytes[start + at] as number) ^ (stream[at] as number);
    }
  }

  #blocks(count: number, first: number, ssrc: number, index: number): Buffer {
    const salt = this.#salt;
    for (let at = 0; at < 4; at += 1) counters[at] = salt[at] as number;
    counters.writeUInt32BE((salt.readUInt32BE(4) ^ ssrc) >>> 0, 4);
    counters.writeUInt16BE(salt.readUInt16BE(8) ^ Math.floor(index / 2 ** 32), 8);
    counters.writeUInt32BE((salt.readUInt32BE(10) ^ (index % 2 ** 32)) >>> 0, 10);
    for (let block = 0; block < count; block += 1) {
      const at = block * BLOCK;
      if (block > 0) counters.copyWithin(at, 0, BLOCK - 2);
      counters.writeUInt16BE(first + block, at + BLOCK - 2);
    }
    return this.#cipher.update(counters.subarray(0, count * BLOCK));
  }
}
