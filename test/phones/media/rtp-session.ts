import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { Moment } from '../wait.ts';
import { CODECS, type Codec, type Coder, openCoder } from './codecs.ts';
import { Listener } from './listener.ts';
import { isRtcp, parseEvent, parseRtp, serialiseEvent, serialiseRtp, type RtpPacket } from './rtp-packet.ts';
import { RtpStatistics, type RtpReport } from './rtp-statistics.ts';
import type { Protection } from './srtp.ts';
import { SampleSource } from './sample-source.ts';
import { ToneSource } from './tone.ts';

const PACKET_MS = 20;
/** Octets of a packet, except of Opus. */
const OCTETS = 160;
/** Of a sample: above the comfort noise of media servers. */
const AUDIBLE = 1000;
/** A digit of 100 ms, then 100 ms of audio. */
const EVENT_PACKETS = 5;
const EVENT_GAP_PACKETS = 5;

export interface RtpTarget {
  readonly address: string;
  readonly port: number;
  readonly codec: Codec;
  /** Payload type of the codec. */
  readonly payloadType: number;
  readonly telephoneEvent: number | undefined;
}

/** What becomes of a packet, by its number from 0: milliseconds by which it leaves late, or `lost`. */
export type RtpImpairment = (number: number) => number | 'lost';

interface SendingDigit {
  readonly digit: string;
  readonly timestamp: number;
  sent: number;
  done(): void;
}

/**
 * One audio stream in each direction on one UDP port: sends 20 ms packets on a raster without drift, listens with
 * `listener`, counts with `statistics`, collects RFC 4733 digits.
 */
export class RtpSession {
  readonly listener = new Listener();
  readonly statistics = new RtpStatistics();
  /** Arrival of the first audible packet, by the monotonic clock. */
  readonly firstSound = new Moment<number>('first audible packet');
  /** Digits received by RFC 4733, in order. */
  digits = '';
  /** Protects all packets, once set: what cannot be opened is a violation. */
  protection: Protection | undefined;
  /** The far end's key is still to come, and may be overtaken by its packets: these are dropped. */
  awaitsKey = false;
  /** All datagrams, sent and received, as they are on the wire, once set. */
  wire: Buffer[] | undefined;
  /** Violations of RFC 3550, RFC 4733 or its own session description by the far end. */
  readonly violations: string[] = [];
  readonly #socket: Socket;
  readonly #ssrc = randomBytes(4).readUInt32BE();
  readonly #coders = new Map<Codec, Coder>();
  readonly #digitWaiters = new Set<() => void>();
  #sequence = randomBytes(2).readUInt16BE() & 0x7fff;
  #timestamp = randomBytes(4).readUInt32BE();
  #target: RtpTarget | undefined;
  #frequency: number | undefined;
  #tone: ToneSource | SampleSource | undefined;
  #sending = false;
  #expecting: ReadonlySet<number> = new Set();
  #formats: ReadonlyMap<number, Codec> = new Map();
  #agreed: ReadonlyMap<number, Codec> = new Map();
  #timer: NodeJS.Timeout | undefined;
  #started = 0;
  #ticks = 0;
  #marker = true;
  #queue: SendingDigit[] = [];
  #gap = 0;
  #eventTimestamp: number | undefined;
  #eventEnded = true;
  #sent = 0;
  #lastSent: Buffer = Buffer.alloc(0);
  #impair: RtpImpairment = () => 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (data) => this.#receive(data));
    // ICMP port unreachable from a far end that closed first.
    socket.on('error', (error) => this.violations.push(error.message));
  }

  /** Binds an even port (RFC 3550 section 11). */
  static async open(address = '127.0.0.1'): Promise<RtpSession> {
    for (;;) {
      const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
      socket.bind(0, address);
      await once(socket, 'listening');
      if (socket.address().port % 2 === 0) return new RtpSession(socket);
      socket.close();
    }
  }

  get port(): number {
    return this.#socket.address().port;
  }

  get packetsSent(): number {
    return this.#sent;
  }

  report(): RtpReport {
    return this.statistics.report();
  }

  /** Payload types offered by this phone; others are violations. */
  expect(formats: ReadonlyMap<number, Codec>, telephoneEvent: number | undefined): void {
    // Packets of the description before may be on their way.
    this.#formats = new Map([...this.#agreed, ...formats]);
    this.#agreed = formats;
    this.#expecting = new Set([...this.#formats.keys(), ...(telephoneEvent === undefined ? [] : [telephoneEvent])]);
    for (const codec of new Set(formats.values())) {
      if (this.#coders.has(codec)) continue;
      void openCoder(codec).then((coder) => {
        this.#coders.get(codec)?.close();
        this.#coders.set(codec, coder);
      });
    }
  }

  /** The far end from now on; without `sending` no packets are sent (hold). */
  connect(target: RtpTarget, sending: boolean): void {
    this.#target = target;
    const { rate, clock } = CODECS[target.codec];
    this.listener.setRate(rate);
    this.statistics.units = (clock * PACKET_MS) / 1000;
    if (this.#frequency !== undefined) this.play(this.#frequency);
    if (sending && !this.#sending) this.#marker = true;
    this.#sending = sending;
    if (this.#timer === undefined) {
      this.#started = performance.now();
      this.#ticks = 0;
      this.#schedule();
    }
  }

  /** The sound sent from now on; undefined is silence. */
  play(frequency: number | undefined): void {
    this.#frequency = frequency;
    const { rate } = CODECS[this.#target?.codec ?? 'PCMU'];
    this.#tone = frequency === undefined ? undefined : new ToneSource(frequency, undefined, rate);
  }

  /** Loses and delays packets from now on; the first one has the number 0. */
  impair(rule: RtpImpairment): void {
    const first = this.#sent;
    this.#impair = (number) => rule(number - first);
  }

  /** Sends a datagram as it is, from the port of the stream. */
  inject(datagram: Buffer): void {
    const target = this.#target;
    if (target !== undefined) this.#socket.send(datagram, target.port, target.address);
  }

  /** The last sent packet, as it was on the wire. */
  get lastSent(): Buffer {
    return this.#lastSent;
  }

  /** Sends samples once, then silence; settles when the last is out. */
  async say(samples: Int16Array): Promise<void> {
    const source = new SampleSource(samples);
    this.#frequency = undefined;
    this.#tone = source;
    await source.over;
  }

  /** Sends digits by RFC 4733, one after another; settles when the last is out. */
  async sendDigits(digits: string): Promise<void> {
    if (this.#target?.telephoneEvent === undefined) throw new Error('the far end takes no telephone-events');
    await Promise.all(
      Array.from(digits, (digit) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#queue.push({ digit, timestamp: 0, sent: 0, done: resolve });
        return promise;
      }),
    );
  }

  /** @throws WaitError when the digits received do not contain `digits` within `withinMs` */
  async receivesDigits(digits: string, withinMs: number): Promise<void> {
    const arrival = new Moment<true>(`digits "${digits}"`);
    const check = (): void => {
      if (this.digits.includes(digits)) arrival.reach(true);
    };
    this.#digitWaiters.add(check);
    check();
    try {
      await arrival.wait(withinMs);
    } finally {
      this.#digitWaiters.delete(check);
    }
  }

  close(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#target = undefined;
    this.firstSound.miss('the call ended first');
    for (const digit of this.#queue) digit.done();
    this.#queue = [];
    for (const coder of this.#coders.values()) coder.close();
    this.#coders.clear();
    this.#socket.removeAllListeners('message');
    this.#socket.close();
  }

  #schedule(): void {
    const due = this.#started + this.#ticks * PACKET_MS;
    this.#timer = setTimeout(() => this.#tick(), Math.max(0, due - performance.now()));
  }

  #tick(): void {
    this.#ticks += 1;
    this.#schedule();
    const target = this.#target;
    const timestamp = this.#timestamp;
    const { rate, clock } = CODECS[target?.codec ?? 'PCMU'];
    this.#timestamp = (this.#timestamp + (clock * PACKET_MS) / 1000) >>> 0;
    if (target === undefined || !this.#sending) return;
    const digit = this.#gap > 0 ? undefined : this.#queue[0];
    if (digit !== undefined && target.telephoneEvent !== undefined) {
      this.#sendEvent(digit, target, timestamp);
      return;
    }
    this.#gap = Math.max(0, this.#gap - 1);
    const coder = this.#coders.get(target.codec);
    if (coder === undefined) return;
    const count = (rate * PACKET_MS) / 1000;
    const samples = this.#tone?.next(count) ?? new Int16Array(count);
    this.#send(target, target.payloadType, timestamp, this.#marker, coder.encode(samples));
    this.#marker = false;
  }

  /** RFC 4733 section 2.5.1: one timestamp for the event, a growing duration, the end sent three times. */
  #sendEvent(sending: SendingDigit, target: RtpTarget, now: number): void {
    const first = sending.sent === 0;
    const digit = first ? { ...sending, timestamp: now } : sending;
    this.#queue[0] = digit;
    digit.sent += 1;
    const end = digit.sent >= EVENT_PACKETS;
    const payload = serialiseEvent({
      digit: digit.digit,
      end,
      duration: digit.sent * ((CODECS[target.codec].clock * PACKET_MS) / 1000),
    });
    for (let copy = 0; copy < (end ? 3 : 1); copy += 1) {
      this.#send(target, target.telephoneEvent ?? 101, digit.timestamp, first, payload);
    }
    if (!end) return;
    this.#queue.shift();
    this.#gap = EVENT_GAP_PACKETS;
    digit.done();
  }

  #send(target: RtpTarget, payloadType: number, timestamp: number, marker: boolean, payload: Buffer): void {
    const packet = { payloadType, marker, sequence: this.#sequence, timestamp, ssrc: this.#ssrc, payload };
    this.#sequence = (this.#sequence + 1) & 0xffff;
    const late = this.#impair(this.#sent);
    this.#sent += 1;
    const plain = serialiseRtp(packet);
    const datagram = this.protection?.seal(plain) ?? plain;
    this.#lastSent = datagram;
    this.wire?.push(datagram);
    const send = (): void => this.#socket.send(datagram, target.port, target.address);
    if (late === 0) send();
    else if (late !== 'lost') setTimeout(() => this.#target !== undefined && send(), late);
  }

  #receive(data: Buffer): void {
    this.wire?.push(Buffer.from(data));
    if (isRtcp(data)) {
      this.violations.push('RTCP at the RTP port, where nobody agreed to a=rtcp-mux');
      return;
    }
    if (this.awaitsKey) return;
    const plain = this.protection === undefined ? data : this.protection.open(data);
    if (plain === undefined) {
      this.violations.push(`${data.length} bytes that are not encrypted by the agreed key`);
      return;
    }
    const packet = parseRtp(plain);
    if (packet === undefined) {
      this.violations.push(`${data.length} bytes that are no RTP`);
      return;
    }
    if (this.#expecting.size > 0 && !this.#expecting.has(packet.payloadType)) {
      this.violations.push(`payload type ${packet.payloadType} was not agreed`);
      return;
    }
    const codec = this.#formats.get(packet.payloadType);
    this.statistics.receive(packet, performance.now(), codec !== undefined);
    if (codec === undefined) this.#receiveEvent(packet);
    else this.#receiveAudio(codec, packet);
  }

  #receiveAudio(codec: Codec, packet: RtpPacket): void {
    const { length } = packet.payload;
    if (codec !== 'OPUS' && length !== OCTETS) this.violations.push(`an audio packet of ${length} bytes`);
    const coder = this.#coders.get(codec);
    if (coder === undefined) return;
    this.listener.setRate(CODECS[codec].rate);
    const samples = coder.decode(packet.payload);
    if (!this.firstSound.reached && samples.some((sample) => Math.abs(sample) >= AUDIBLE)) {
      this.firstSound.reach(performance.now());
    }
    this.listener.hear(samples);
  }

  #receiveEvent(packet: RtpPacket): void {
    const event = parseEvent(packet.payload);
    if (event === undefined) {
      this.violations.push(`a telephone-event that is no digit: ${packet.payload.toString('hex')}`);
      return;
    }
    if (packet.timestamp !== this.#eventTimestamp) {
      if (!this.#eventEnded) this.violations.push('a digit began before the one before it ended');
      if (!packet.marker) this.violations.push('the first packet of a digit has no marker');
      this.#eventTimestamp = packet.timestamp;
      this.digits += event.digit;
      for (const check of this.#digitWaiters) check();
    }
    this.#eventEnded = event.end;
  }
}
