/** SRTP and SRTCP streams: one object a direction. */
import type { SrtpSuiteName } from '../../../sip-facts/index.ts';
import { PacketIndexes } from './packet-index.ts';
import { transformOf } from './suites.ts';
import type { Transform } from './transform.ts';

/** Largest SRTCP index (RFC 3711 section 3.4); a new key is needed then, some thousand years into a call. */
const MOST_REPORTS = 2 ** 31 - 1;

/** Sources of a far end that are followed at a time: a phone has one, and a changed one now and then. */
const MOST_SOURCES = 4;

/** What a key is used for. */
export interface SrtpKey {
  readonly suite: SrtpSuiteName;
  /** Master key, then master salt. */
  readonly key: Buffer;
}

/** Seals the packets of the server's own source. */
export class SrtpSender {
  readonly #transform: Transform;
  readonly #indexes = new PacketIndexes();
  #report = 0;

  constructor({ suite, key }: SrtpKey) {
    this.#transform = transformOf(suite, key);
  }

  /**
   * Seals an RTP packet with a header of 12 octets, in place.
   * @returns its new length; 0 for a packet that must not be sent: another one had its index, and two packets under the same key
   * stream would reveal each other
   */
  sealRtp(packet: Buffer, length: number): number {
    const index = this.#indexes.guess(packet.readUInt16BE(2));
    if (this.#indexes.used(index)) return 0;
    this.#indexes.use(index);
    return this.#transform.sealRtp(packet, 12, length, packet.readUInt32BE(8), index);
  }

  /** Seals an RTCP packet in place, and returns its new length. */
  sealRtcp(packet: Buffer, length: number): number {
    if (this.#report >= MOST_REPORTS) return 0;
    this.#report += 1;
    return this.#transform.sealRtcp(packet, length, packet.readUInt32BE(4), this.#report);
  }
}

/** Opens the packets of a far end. Forged and repeated packets change nothing. */
export class SrtpReceiver {
  readonly #transform: Transform;
  readonly #sources = new Map<number, PacketIndexes>();
  readonly #reports = new Map<number, PacketIndexes>();

  constructor({ suite, key }: SrtpKey) {
    this.#transform = transformOf(suite, key);
  }

  /**
   * Opens an RTP packet in place.
   * @param clear octets of its header, with CSRCs and extension
   * @returns length of the plain packet; -1 for a forged or repeated one
   */
  openRtp(packet: Buffer, clear: number): number {
    const ssrc = packet.readUInt32BE(8);
    const known = this.#sources.get(ssrc);
    const indexes = known ?? new PacketIndexes();
    const index = indexes.guess(packet.readUInt16BE(2));
    if (indexes.used(index)) return -1;
    const length = this.#transform.openRtp(packet, clear, ssrc, index);
    if (length < 0) return -1;
    indexes.use(index);
    if (known === undefined) remember(this.#sources, ssrc, indexes);
    return length;
  }

  /** Opens an RTCP packet in place. @returns length of the plain packet; -1 for a forged or repeated one */
  openRtcp(packet: Buffer): number {
    const word = this.#transform.rtcpIndex(packet);
    if (word === undefined) return -1;
    const ssrc = packet.readUInt32BE(4);
    const known = this.#reports.get(ssrc);
    const indexes = known ?? new PacketIndexes();
    const index = word % 2 ** 31;
    if (indexes.used(index)) return -1;
    const length = this.#transform.openRtcp(packet, ssrc);
    if (length < 0) return -1;
    indexes.use(index);
    if (known === undefined) remember(this.#reports, ssrc, indexes);
    return length;
  }
}

/** Only authentic packets get here, so that forged ones push no source out. */
function remember(sources: Map<number, PacketIndexes>, ssrc: number, indexes: PacketIndexes): void {
  const [oldest] = sources.keys();
  if (sources.size >= MOST_SOURCES && oldest !== undefined) sources.delete(oldest);
  sources.set(ssrc, indexes);
}
