/** AES_CM_128_HMAC_SHA1_80 (RFC 3711). */
import type { SessionKeys } from './derive.ts';
import { HmacSha1 } from './hmac-sha1.ts';
import { KeyStream } from './key-stream.ts';
import { ENCRYPTED, RTCP_CLEAR_OCTETS, type Transform } from './transform.ts';

const TAG_OCTETS = 10;
const INDEX_OCTETS = 4;

/** The rollover counter of a packet, authenticated and never sent; shared by all streams of the thread. */
const rollover = Buffer.alloc(4);

class Protocol {
  readonly stream: KeyStream;
  readonly #hmac: HmacSha1;

  constructor({ encryption, authentication, salt }: SessionKeys) {
    this.stream = new KeyStream(encryption, salt);
    this.#hmac = new HmacSha1(authentication);
  }

  tag(packet: Buffer, length: number, more?: Buffer): Buffer {
    return this.#hmac.digest(packet.subarray(0, length), more);
  }
}

export class CounterMode implements Transform {
  readonly #rtp: Protocol;
  readonly #rtcp: Protocol;

  constructor(rtp: SessionKeys, rtcp: SessionKeys) {
    this.#rtp = new Protocol(rtp);
    this.#rtcp = new Protocol(rtcp);
  }

  sealRtp(packet: Buffer, clear: number, length: number, ssrc: number, index: number): number {
    this.#rtp.stream.apply(packet, clear, length, ssrc, index);
    rollover.writeUInt32BE(Math.floor(index / 65_536));
    this.#rtp.tag(packet, length, rollover).copy(packet, length, 0, TAG_OCTETS);
    return length + TAG_OCTETS;
  }

  openRtp(packet: Buffer, clear: number, ssrc: number, index: number): number {
    const length = packet.length - TAG_OCTETS;
    if (length < clear) return -1;
    rollover.writeUInt32BE(Math.floor(index / 65_536));
    if (!isTag(packet, length, this.#rtp.tag(packet, length, rollover))) return -1;
    this.#rtp.stream.apply(packet, clear, length, ssrc, index);
    return length;
  }

  sealRtcp(packet: Buffer, length: number, ssrc: number, index: number): number {
    this.#rtcp.stream.apply(packet, RTCP_CLEAR_OCTETS, length, ssrc, index);
    const end = packet.writeUInt32BE(ENCRYPTED + index, length);
    this.#rtcp.tag(packet, end).copy(packet, end, 0, TAG_OCTETS);
    return end + TAG_OCTETS;
  }

  openRtcp(packet: Buffer, ssrc: number): number {
    const word = this.rtcpIndex(packet);
    if (word === undefined) return -1;
    const end = packet.length - TAG_OCTETS;
    if (!isTag(packet, end, this.#rtcp.tag(packet, end))) return -1;
    const length = end - INDEX_OCTETS;
    if (word >= ENCRYPTED) this.#rtcp.stream.apply(packet, RTCP_CLEAR_OCTETS, length, ssrc, word - ENCRYPTED);
    return length;
  }

  rtcpIndex(packet: Buffer): number | undefined {
    const at = packet.length - TAG_OCTETS - INDEX_OCTETS;
    return at < RTCP_CLEAR_OCTETS ? undefined : packet.readUInt32BE(at);
  }
}

/** Compares in constant time. */
function isTag(packet: Buffer, at: number, expected: Buffer): boolean {
  let difference = 0;
  for (let octet = 0; octet < TAG_OCTETS; octet += 1) {
    difference |= (packet[at + octet] as number) ^ (expected[octet] as number);
  }
  return difference === 0;
}
