/** RTCP reports. */
import type { Socket } from 'node:dgram';
import { MOST_OVERHEAD } from '../srtp/transform.ts';
import type { Reception } from './reception.ts';
import { type PacketSecurity, PLAIN } from './security.ts';

const SENDER_REPORT = 200;
const RECEIVER_REPORT = 201;

/** Octets before the report blocks, and of one block. */
const SENDER_HEAD = 28;
const RECEIVER_HEAD = 8;
const BLOCK_BYTES = 24;

/** Smallest time between two reports, ms (RFC 3550 section 6.2). */
const REPORT_INTERVAL_MS = 5000;

/** Octets of a receiver report with one block. */
const REPORT_BYTES = 32;

/**
 * Minimal RTCP (RFC 3550 section 6.4): answers a sender report of the far end with a receiver report, at most every
 * five seconds, for phones that watch RTCP to detect a dead path, and keeps what the far end reports. Ignores reports
 * from other hosts than the RTP source.
 */
export class RtcpResponder {
  readonly #ssrc: number;
  readonly #reception: Reception;
  #sourceAddress = '';
  #lastReport = Number.NEGATIVE_INFINITY;
  /** Timestamp units of a millisecond in sent packets. */
  units = 8;
  /** Protects the reports. */
  security: PacketSecurity = PLAIN;
  /** Number of answered sender reports. */
  answered = 0;
  /** What the far end last said of the packets that it got: lost ones, and the jitter in ms. */
  reported: { readonly lost: number; readonly jitter: number } | undefined;

  /** @param reception figures for the report block */
  constructor(socket: Socket, ssrc: number, reception: Reception) {
    this.#ssrc = ssrc;
    this.#reception = reception;
    socket.on('message', (datagram, from) => this.receive(datagram, from, socket));
    // As on the RTP socket: an unreachable far end does not end the call.
    socket.on('error', () => {
      this.#lastReport = performance.now();
    });
  }

  /** An RTP packet came from this address. */
  received(address: string): void {
    this.#sourceAddress = address;
  }

  /** Takes a packet. @param socket sends the answer: the one for RTP where both share a port (RFC 5761) */
  receive(
    received: Buffer,
    { address, port }: { readonly address: string; readonly port: number },
    socket: Socket,
  ): void {
    // Port 0 is forged, and cannot be answered.
    if (address !== this.#sourceAddress || port === 0 || received.length < RECEIVER_HEAD) return;
    if (((received[0] as number) & 0xc0) !== 0x80) return;
    const opened = this.security.openRtcp(received);
    if (opened < RECEIVER_HEAD) return;
    const datagram = received.subarray(0, opened);
    const type = datagram[1];
    if (type === SENDER_REPORT) this.#readBlocks(datagram, SENDER_HEAD);
    if (type === RECEIVER_REPORT) this.#readBlocks(datagram, RECEIVER_HEAD);
    if (type !== SENDER_REPORT || datagram.length < SENDER_HEAD) return;
    const now = performance.now();
    if (now - this.#lastReport < REPORT_INTERVAL_MS) return;
    this.#lastReport = now;
    this.answered += 1;
    const report = this.#report(datagram);
    const length = this.security.sealRtcp(report, REPORT_BYTES);
    if (length > 0) socket.send(report.subarray(0, length), port, address);
  }

  #readBlocks(datagram: Buffer, head: number): void {
    const count = (datagram[0] as number) & 0x1f;
    for (let at = head; at < head + count * BLOCK_BYTES && at + BLOCK_BYTES <= datagram.length; at += BLOCK_BYTES) {
      if (datagram.readUInt32BE(at) !== this.#ssrc) continue;
      // More duplicates than losses make the number negative (RFC 3550 section 6.4.1).
      const lost = Math.max(0, datagram.readIntBE(at + 5, 3));
      this.reported = { lost, jitter: datagram.readUInt32BE(at + 12) / this.units };
    }
  }

  #report(senderReport: Buffer): Buffer {
    const report = Buffer.alloc(REPORT_BYTES + MOST_OVERHEAD);
    report[0] = 0x81;
    report[1] = RECEIVER_REPORT;
    report.writeUInt16BE(REPORT_BYTES / 4 - 1, 2);
    report.writeUInt32BE(this.#ssrc, 4);
    const { ssrc, lost, highest } = this.#reception.source;
    report.writeUInt32BE(ssrc, 8);
    report.writeUIntBE(Math.min(lost, 0x7fffff), 13, 3);
    report.writeUInt32BE(highest >>> 0, 16);
    // Middle 32 bits of the sender's NTP timestamp; answered at once, so the delay since is zero.
    senderReport.copy(report, 24, 10, 14);
    return report;
  }
}
