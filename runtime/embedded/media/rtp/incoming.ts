/** What an RTP session receives. */
import type { RemoteInfo } from 'node:dgram';
import type { Codec, Voice } from '../audio/codec.ts';
import { areRelayed } from '../audio/codecs.ts';
import { FRAME_MS } from '../audio/format.ts';
import { decodeG711, type G711Codec, gainTable, isG711, PCMU } from '../audio/g711.ts';
import { atLevel } from '../audio/mix.ts';
import { OPUS, opusMilliseconds } from '../audio/opus.ts';
import { JitterBuffer, MAX_OCTETS } from './jitter-buffer.ts';
import type { MediaPort } from './media-port.ts';
import type { OutgoingStream } from './outgoing.ts';
import { emptyPacket, parseRtp, type RtpPacket, rtpHeaderOctets, timestampDistance } from './packet.ts';
import { Reception } from './reception.ts';
import { PLAIN } from './security.ts';
import { G711_FORMATS, type RtpParameters, translateOctets } from './session-parameters.ts';
import { type ReceivedDigit, TelephoneEventReceiver } from './telephone-event.ts';
import type { VoiceBox } from './voice-box.ts';

/** Allowed drift of the clocks with each packet, ms. */
const CLOCK_DRIFT_MS = 0.005;

/** Payload type of comfort noise (RFC 3389). */
const COMFORT_NOISE = 13;

/** Longest payload of Opus that is decoded: what a datagram of 1500 octets holds. */
const MAX_OPUS_OCTETS = 1460;

/** Scratch memory for the payload being decoded, shared by all sessions. */
const pulled = new Uint8Array(MAX_OPUS_OCTETS);

/** The incoming side of a session: sound for readers, digits, and packets for the joined session. */
export class IncomingStream {
  /** Loss and jitter of the far end's stream. */
  readonly reception = new Reception();
  readonly #port: MediaPort;
  readonly #box: VoiceBox;
  readonly #packet: RtpPacket = emptyPacket();
  readonly #events = new TelephoneEventReceiver();
  readonly #jitter = new JitterBuffer();
  /** Codec agreed for both directions. */
  #agreed: Codec = PCMU;
  #codec: Codec = PCMU;
  #formats = G711_FORMATS;
  #eventClock = 8000;
  #telephoneEvent: number | undefined;
  #sourceSsrc: number | undefined;
  #peer: OutgoingStream | undefined;
  #buffering = 0;
  #transitBase = Number.POSITIVE_INFINITY;
  /** Frame slot of the last received packet. */
  #heardFrame: number;
  mayReceive = false;
  /** Silence replaces the sound. */
  muted = false;
  /** Change of the level, steps of 3 dB. */
  gain = 0;

  /** Called at the end of a digit of the far end; duration in timestamp units. */
  onDigit: (digit: string, duration: number) => void = () => undefined;
  /** Called with the address of each packet that was taken. */
  readonly #heard: (address: string) => void;

  constructor(port: MediaPort, box: VoiceBox, heard: (address: string) => void) {
    this.#port = port;
    this.#box = box;
    this.#heard = heard;
    this.#heardFrame = port.environment.ticker.frame;
  }

  /** The codec in which the far end sends. */
  get codec(): Codec {
    return this.#codec;
  }

  get relaying(): boolean {
    return this.#port.relaying;
  }

  /** The stream that this one's packets are sent on by. */
  get peer(): OutgoingStream | undefined {
    return this.#peer;
  }

  /** True while a digit of the far end is being received; no audio comes meanwhile. */
  get receivingDigit(): boolean {
    return this.#events.active;
  }

  /** Milliseconds since the last received packet, or since `restartSilence`. */
  get silentMs(): number {
    return (this.#port.environment.ticker.frame - this.#heardFrame) * FRAME_MS;
  }

  restartSilence(): void {
    this.#heardFrame = this.#port.environment.ticker.frame;
  }

  /** Applies an answer or a new offer. */
  configure({ codec, formats, telephoneEvent, eventClock = 8000, mayReceive }: RtpParameters): void {
    this.#telephoneEvent = telephoneEvent;
    this.#eventClock = eventClock;
    this.mayReceive = mayReceive;
    this.#formats = isG711(codec) ? new Map([...G711_FORMATS, ...(formats ?? [])]) : (formats ?? new Map());
    if (codec !== this.#agreed) {
      this.#agreed = codec;
      this.#receivedAs(codec);
    }
    if (!mayReceive) this.endDigit();
  }

  /** Sends packets on by `peer` as they arrive; undefined ends this. */
  joinTo(peer: OutgoingStream | undefined): void {
    if (peer === this.#peer) return;
    this.#peer?.passNothing();
    this.#peer = peer;
    this.#transitBase = Number.POSITIVE_INFINITY;
  }

  close(): void {
    this.#peer = undefined;
  }

  /** The far end sends in this codec from now on. */
  #receivedAs(codec: Codec): void {
    this.#codec = codec;
    this.reception.units = codec.clockRate / 1000;
    this.#transitBase = Number.POSITIVE_INFINITY;
    this.#jitter.resize(codec === OPUS ? MAX_OPUS_OCTETS : MAX_OCTETS);
  }

  /** Starts or stops buffering received audio for `read`. Calls are counted. */
  buffer(on: boolean): void {
    this.#buffering = Math.max(0, this.#buffering + (on ? 1 : -1));
    if (this.#buffering === 0) this.#jitter.reset();
  }

  /**
   * Decodes the due packet. With packets shorter than a frame, call it several times a tick. Only one reader may call
   * this in a tick.
   *
   * @returns samples written to `target`; 0 without a (further) due packet
   */
  read(target: Int16Array): number {
    const length = this.#jitter.pull(pulled);
    const codec = this.#codec;
    if (isG711(codec)) return length === 0 ? 0 : decodeG711(codec, pulled, 0, length, target);
    const { voice } = this.#box;
    const isLost = this.#jitter.missing;
    if (voice === undefined || codec !== this.#agreed || (length === 0 && !isLost)) return 0;
    const count = isLost ? this.#conceal(voice, target) : voice.decode(pulled.subarray(0, length), target);
    if (this.muted) target.fill(0, 0, count);
    else atLevel(target.subarray(0, count), this.gain);
    return count;
  }

  #conceal(voice: Voice, target: Int16Array): number {
    const next = this.#jitter.peek(pulled);
    return voice.conceal(next === 0 ? undefined : pulled.subarray(0, next), target);
  }

  /** The plain packet, read into `#packet`; undefined for anything else. */
  #opened(received: Buffer): Buffer | undefined {
    if (this.#port.security === PLAIN) return parseRtp(received, this.#packet) ? received : undefined;
    const clear = rtpHeaderOctets(received);
    if (clear < 0) return undefined;
    const length = this.#port.security.openRtp(received, clear);
    if (length < 0) return undefined;
    const datagram = received.subarray(0, length);
    return parseRtp(datagram, this.#packet) ? datagram : undefined;
  }

  /** Takes a datagram of the far end. */
  receive(received: Buffer, from: RemoteInfo): void {
    if (this.#port.relaying) return this.#receiveRelayed(received, from);
    const datagram = this.#opened(received);
    if (datagram === undefined) {
      this.#port.counters.inSkipPackets += 1;
      return;
    }
    const packet = this.#packet;
    const { payloadType } = packet;
    const codec = this.#formats.get(payloadType);
    const isEvent = payloadType === this.#telephoneEvent;
    if (codec === undefined && !isEvent && payloadType !== COMFORT_NOISE) {
      this.#port.counters.inSkipPackets += 1;
      return;
    }
    if (this.#port.latch.accept(from.address, from.port) === 'stranger') {
      this.#port.counters.inSkipPackets += 1;
      return;
    }
    this.#heardFrame = this.#port.environment.ticker.frame;
    if (packet.ssrc !== this.#sourceSsrc) this.#startSource(packet.ssrc);
    this.#port.counters.inPackets += 1;
    this.#port.counters.inRawBytes += datagram.length;
    this.#heard(from.address);
    this.reception.heard(packet, performance.now());
    if (!this.mayReceive) return this.#peer?.passNothing();
    if (isEvent) this.#receiveEvent(datagram, packet);
    else if (codec === undefined) this.#receiveComfortNoise(packet);
    else this.#receiveAudio(datagram, packet, codec);
  }

  #receiveRelayed(datagram: Buffer, { address, port }: RemoteInfo): void {
    const isLateSound = parseRtp(datagram, this.#packet) && this.#packet.ssrc === this.#sourceSsrc;
    if (isLateSound || this.#port.latch.accept(address, port) === 'stranger') {
      this.#port.counters.inSkipPackets += 1;
      return;
    }
    this.#heardFrame = this.#port.environment.ticker.frame;
    this.#port.counters.inPackets += 1;
    this.#port.counters.inRawBytes += datagram.length;
    this.#peer?.passOnDatagram(datagram);
  }

  #startSource(ssrc: number): void {
    this.#sourceSsrc = ssrc;
    this.endDigit();
    this.#events.reset();
    this.#jitter.reset();
    this.#transitBase = Number.POSITIVE_INFINITY;
  }

  /** The digit that is being received is over: no more packets of it come. */
  endDigit(): void {
    this.#tellDigit(this.#events.flush());
  }

  #tellDigit(digit: ReceivedDigit | undefined): void {
    if (digit !== undefined) this.onDigit(digit.digit, Math.round((digit.duration * 8000) / this.#eventClock));
  }

  #receiveEvent(datagram: Buffer, packet: RtpPacket): void {
    this.#port.counters.inDtmfPackets += 1;
    this.reception.interrupt();
    const { payloadOffset, payloadLength } = packet;
    this.#peer?.passOnEvent(datagram, packet, this.#eventClock);
    this.#tellDigit(this.#events.receive(datagram, payloadOffset, payloadLength, packet));
  }

  #receiveComfortNoise(packet: RtpPacket): void {
    this.#port.counters.inCngPackets += 1;
    this.reception.interrupt();
    this.#peer?.passOver(packet);
  }

  #receiveAudio(datagram: Buffer, packet: RtpPacket, codec: Codec): void {
    // Audio during an open digit: all its end packets were lost.
    if (this.#events.active) this.endDigit();
    this.#port.counters.inMediaPackets += 1;
    this.#port.counters.inMediaBytes += datagram.length;
    if (codec !== this.#codec) {
      if (areRelayed(codec, this.#codec)) this.#codec = codec;
      else this.#receivedAs(codec);
    }
    if (isG711(codec)) this.#changeOctets(datagram, packet, codec);
    this.#peer?.passOnAudio(datagram, packet, this);
    if (this.#buffering > 0) this.#buffer(datagram, packet, codec);
  }

  /** Changes the level of G.711, or mutes it, in place. */
  #changeOctets(datagram: Buffer, { payloadOffset, payloadLength }: RtpPacket, codec: G711Codec): void {
    const gain = gainTable(codec, this.gain);
    if (gain !== undefined) translateOctets(datagram, payloadOffset, payloadLength, gain);
    if (this.muted) datagram.fill(codec.silence, payloadOffset, payloadOffset + payloadLength);
  }

  #buffer(datagram: Buffer, { sequence, payloadOffset, payloadLength }: RtpPacket, codec: Codec): void {
    if (codec !== OPUS) return this.#jitter.push(sequence, datagram, payloadOffset, payloadLength);
    const milliseconds = opusMilliseconds(datagram, payloadOffset, payloadLength);
    if (milliseconds === 0) this.#port.counters.inSkipPackets += 1;
    else this.#jitter.push(sequence, datagram, payloadOffset, payloadLength, milliseconds / FRAME_MS);
  }

  /** Lateness of a packet relative to the quickest of its stream, ms; at most the time that it can have waited here. */
  lateness(timestamp: number): number {
    const now = performance.now();
    const transit = now - timestampDistance(0, timestamp) / this.reception.units;
    // The base follows a far end whose clock is up to 250 parts per million slower.
    this.#transitBase = Math.min(transit, this.#transitBase + CLOCK_DRIFT_MS);
    return Math.min(transit - this.#transitBase, this.#port.environment.lag.at(now));
  }
}
