/** The RTP session of a channel. */
import type { RemoteInfo } from 'node:dgram';
import type { Codec, FormatParameters, Voice } from '../audio/codec.ts';
import { areRelayed } from '../audio/codecs.ts';
import { FRAME_MS, FRAME_SAMPLES, type Rate } from '../audio/format.ts';
import {
  decodeG711,
  encodeG711,
  type G711Codec,
  gainTable,
  isG711,
  PCMA,
  PCMU,
  transcodingTable,
} from '../audio/g711.ts';
import { atLevel } from '../audio/mix.ts';
import { OPUS, opusMilliseconds } from '../audio/opus.ts';
import { emptyCounters, type MediaFigures, type SessionCounters } from './figures.ts';
import { JitterBuffer, MAX_OCTETS } from './jitter-buffer.ts';
import { SourceLatch } from './latch.ts';
import {
  emptyPacket,
  isRtcp,
  parseRtp,
  RTP_HEADER_BYTES,
  type RtpPacket,
  rtpHeaderOctets,
  timestampDistance,
} from './packet.ts';
import { type PacketSecurity, PLAIN } from './security.ts';
import type { PortPair } from './ports.ts';
import { Reception } from './reception.ts';
import { RtcpResponder } from './rtcp.ts';
import { MAX_PAYLOAD, RtpSender } from './sender.ts';
import { type ReceivedDigit, rescaleEvent, TelephoneEventReceiver, TelephoneEventSender } from './telephone-event.ts';
import type { ThreadLag } from './thread-lag.ts';
import type { Ticker } from './ticker.ts';
import { VoiceBox } from './voice-box.ts';

/** Allowed drift of the clocks with each packet, ms. */
const CLOCK_DRIFT_MS = 0.005;

/** Payload type of comfort noise (RFC 3389). */
const COMFORT_NOISE = 13;

/** Longest payload of Opus that is decoded: what a datagram of 1500 octets holds. */
const MAX_OPUS_OCTETS = 1460;

/** Scratch memory for the payload being decoded, shared by all sessions. */
const pulled = new Uint8Array(MAX_OPUS_OCTETS);

/** What far ends may send of G.711, whichever of the two was agreed. */
const G711_FORMATS: ReadonlyMap<number, Codec> = new Map([PCMU, PCMA].map((codec) => [codec.payloadType, codec]));

const NO_PARAMETERS: FormatParameters = new Map();

/** The parameters of a session that SDP has negotiated. */
export interface RtpParameters {
  /** Codec of sent packets. */
  readonly codec: Codec;
  /** Payload type of sent packets; by default the codec's own. */
  readonly payloadType?: number;
  /** Codecs of received packets by payload type, besides G.711 where that is the codec. */
  readonly formats?: ReadonlyMap<number, Codec>;
  /** What the far end wants to get. */
  readonly wanted?: FormatParameters;
  /** Payload type of telephone-event; undefined if not negotiated. */
  readonly telephoneEvent: number | undefined;
  /** Clock of its durations, units a second; by default 8000. */
  readonly eventClock?: number;
  /** Far end's media address; port 0 for none. */
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** Whether the direction attributes allow sending (RFC 3264 section 6.1). */
  readonly maySend: boolean;
  /** Whether they allow receiving. */
  readonly mayReceive: boolean;
}

/** Shared by all sessions of a server. */
export interface RtpEnvironment {
  readonly ticker: Ticker;
  readonly figures: MediaFigures;
  readonly lag: ThreadLag;
}

/**
 * The media of one channel: a socket pair, an outgoing and an incoming stream. Frames come from the channel's top
 * application, or the session is joined to another one and forwards its packets as they arrive.
 */
export class RtpSession {
  readonly localAddress: string;
  readonly localPort: number;
  readonly counters: SessionCounters = emptyCounters();
  readonly latch = new SourceLatch();
  /** Loss and jitter of the far end's stream. */
  readonly reception = new Reception();
  readonly #pair: PortPair;
  readonly #environment: RtpEnvironment;
  readonly #sender = new RtpSender();
  readonly #packet: RtpPacket = emptyPacket();
  readonly #events = new TelephoneEventReceiver();
  readonly #eventSender = new TelephoneEventSender();
  readonly #jitter = new JitterBuffer();
  readonly #rtcp: RtcpResponder;
  #codec: Codec = PCMU;
  /** Set when the codec is G.711. */
  #g711: G711Codec | undefined = PCMU;
  #payloadType = PCMU.payloadType;
  #formats = G711_FORMATS;
  #receivedCodec: Codec = PCMU;
  readonly #box = new VoiceBox();
  #eventClock = 8000;
  #telephoneEvent: number | undefined;
  #security: PacketSecurity = PLAIN;
  /** Takes what is neither RTP nor RTCP, and says that both share the port. */
  #transport: ((datagram: Buffer, from: RemoteInfo) => boolean) | undefined;
  #maySend = false;
  #mayReceive = false;
  /** Whether datagrams are passed on as they are. */
  #relaying = false;
  #closed = false;
  #sourceSsrc: number | undefined;
  #peer: RtpSession | undefined;
  #buffering = 0;
  #transitBase = Number.POSITIVE_INFINITY;
  /** Frame slot of the last received packet. */
  #heardFrame: number;

  /** Silence replaces the received audio (`mutedIn`), or the sent audio (`mutedOut`). */
  mutedIn = false;
  mutedOut = false;

  #gainIn = 0;
  #gainOut = 0;

  /** Called at the end of a digit of the far end; duration in timestamp units. */
  onDigit: (digit: string, duration: number) => void = () => undefined;

  constructor(pair: PortPair, localAddress: string, environment: RtpEnvironment) {
    this.#pair = pair;
    this.localAddress = localAddress;
    this.localPort = pair.port;
    this.#environment = environment;
    this.#heardFrame = environment.ticker.frame;
    this.#rtcp = new RtcpResponder(pair.rtcp, this.#sender.ssrc, this.reception);
    pair.rtp.on('message', (datagram, from) => {
      if (this.#transport === undefined) this.#receive(datagram, from);
      else if (!this.#transport(datagram, from)) this.#receiveMixed(datagram, from);
    });
    // The ICMP error of a closed port is ignored: only SIP ends the call.
    pair.rtp.on('error', () => {
      this.counters.inSkipPackets += 1;
    });
  }

  get ssrc(): number {
    return this.#sender.ssrc;
  }

  /** What the far end reported of the packets sent to it. */
  get reported(): RtcpResponder['reported'] {
    return this.#rtcp.reported;
  }

  get codec(): Codec {
    return this.#codec;
  }

  /** Samples a second of frames to write. */
  get rate(): Rate {
    return this.#codec.rate;
  }

  /** Samples a second of what `read` returns. */
  get receivedRate(): Rate {
    return this.#receivedCodec.rate;
  }

  /**
   * Whether another session's packets can be sent on as they are. Muted or changed sound is decoded, except G.711, which is changed by
   * tables.
   */
  relays(from: RtpSession): boolean {
    if (this.#relaying || from.#relaying) return true;
    if (!areRelayed(from.#receivedCodec, this.#codec)) return false;
    return this.#g711 !== undefined || !(from.mutedIn || from.#gainIn !== 0 || this.mutedOut || this.#gainOut !== 0);
  }

  get telephoneEvent(): number | undefined {
    return this.#telephoneEvent;
  }

  /** Whether SDP allows receiving. */
  get mayReceive(): boolean {
    return this.#mayReceive;
  }

  /** True while a digit of the far end is being received; no audio comes meanwhile. */
  get receivingDigit(): boolean {
    return this.#events.active;
  }

  /** True while digits wait to be sent. */
  get sendingDigits(): boolean {
    return this.#eventSender.pending > 0;
  }

  /** Milliseconds since the last received packet, or since `restartSilence`. */
  get silentMs(): number {
    return (this.#environment.ticker.frame - this.#heardFrame) * FRAME_MS;
  }

  restartSilence(): void {
    this.#heardFrame = this.#environment.ticker.frame;
  }

  /** Applies an answer or a new offer. */
  configure(parameters: RtpParameters): void {
    this.#telephoneEvent = parameters.telephoneEvent;
    this.#eventClock = parameters.eventClock ?? 8000;
    this.#eventSender.frameUnits = (this.#eventClock * FRAME_MS) / 1000;
    this.#maySend = parameters.maySend;
    this.#mayReceive = parameters.mayReceive;
    this.#relaying = false;
    const own = parameters.remotePort === this.localPort && parameters.remoteAddress === this.localAddress;
    // An answer that echoes the own offer (an endpoint without far end) must not make the session send to itself.
    this.latch.expect(parameters.remoteAddress, own ? 0 : parameters.remotePort);
    this.#useCodec(parameters, own);
    if (!this.#mayReceive) this.#endDigit();
  }

  /**
   * Passes every datagram on as it is, between this address and the joined session, until `configure`: faxes by T.38 (UDPTL).
   * Both sessions have to relay. Nothing else is sent meanwhile.
   */
  relay(address: string, port: number): void {
    this.#endDigit();
    this.#relaying = true;
    this.#maySend = false;
    this.#mayReceive = false;
    this.latch.expect(address, port);
  }

  /** @param own whether the description is the own one, whose codecs nobody uses yet */
  #useCodec({ codec, payloadType, formats, wanted }: RtpParameters, own: boolean): void {
    const g711 = isG711(codec) ? codec : undefined;
    this.#payloadType = payloadType ?? codec.payloadType;
    this.#formats = g711 === undefined ? (formats ?? new Map()) : new Map([...G711_FORMATS, ...(formats ?? [])]);
    if (!own) this.#box.use(codec, wanted ?? NO_PARAMETERS);
    if (codec === this.#codec) return;
    this.#codec = codec;
    this.#g711 = g711;
    this.#receivedAs(codec);
    this.#sender.setClock(codec.clockRate, this.#environment.ticker.frame);
    this.#rtcp.units = codec.clockRate / 1000;
  }

  /** The far end sends in this codec from now on. */
  #receivedAs(codec: Codec): void {
    this.#receivedCodec = codec;
    this.reception.units = codec.clockRate / 1000;
    this.#transitBase = Number.POSITIVE_INFINITY;
    this.#jitter.resize(codec === OPUS ? MAX_OPUS_OCTETS : MAX_OCTETS);
  }

  /** Protects all packets from now on; PLAIN for none. */
  secure(security: PacketSecurity): void {
    this.#security = security;
    this.#rtcp.security = security;
  }

  get security(): PacketSecurity {
    return this.#security;
  }

  /**
   * Gives datagrams at the RTP port to a transport first (RFC 7983); RTCP may come to that port from now on (RFC 5761).
   * @param take returns false for RTP and RTCP
   */
  carry(take: (datagram: Buffer, from: RemoteInfo) => boolean): void {
    this.#transport = take;
  }

  /** Sends a datagram of the transport. */
  sendDatagram(datagram: Buffer, { address, port }: { readonly address: string; readonly port: number }): void {
    if (!this.#closed) this.#pair.rtp.send(datagram, port, address);
  }

  /** The transport has found out where the far end is: packets go there, and are taken from there only. */
  chooseSource({ address, port }: { readonly address: string; readonly port: number }): void {
    this.latch.expect(address, port);
  }

  /** Changes the level of the received or sent audio by steps of 3 dB, -4..4. */
  setGain(direction: 'read' | 'write', steps: number): void {
    if (direction === 'read') this.#gainIn = steps;
    else this.#gainOut = steps;
  }

  /** Forwards packets to `peer` as they arrive; undefined ends this. */
  joinTo(peer: RtpSession | undefined): void {
    if (peer === this.#peer) return;
    this.#peer?.passNothing();
    this.#peer = peer;
    this.#transitBase = Number.POSITIVE_INFINITY;
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
    const codec = this.#receivedCodec;
    if (isG711(codec)) return length === 0 ? 0 : decodeG711(codec, pulled, 0, length, target);
    const { voice } = this.#box;
    const isLost = this.#jitter.missing;
    if (voice === undefined || codec !== this.#codec || (length === 0 && !isLost)) return 0;
    const count = isLost ? this.#conceal(voice, target) : voice.decode(pulled.subarray(0, length), target);
    if (this.mutedIn) target.fill(0, 0, count);
    else atLevel(target.subarray(0, count), this.#gainIn);
    return count;
  }

  #conceal(voice: Voice, target: Int16Array): number {
    const next = this.#jitter.peek(pulled);
    return voice.conceal(next === 0 ? undefined : pulled.subarray(0, next), target);
  }

  /** Sends one frame of linear samples, at the session's rate, in this frame slot. */
  write(samples: Int16Array): void {
    if (this.mutedOut) return this.writeSilence();
    if (this.#slotTaken()) return;
    if (this.#g711 === undefined) return this.#encode(samples);
    encodeG711(this.#g711, samples, FRAME_SAMPLES, this.#sender.datagram, RTP_HEADER_BYTES);
    this.#applyGainOut(this.#g711, FRAME_SAMPLES);
    this.#sendFrame(FRAME_SAMPLES);
  }

  /** Sends one frame of silence in this frame slot. */
  writeSilence(): void {
    if (this.#slotTaken()) return;
    if (this.#g711 === undefined) return this.#encode(undefined);
    this.#sender.datagram.fill(this.#g711.silence, RTP_HEADER_BYTES, RTP_HEADER_BYTES + FRAME_SAMPLES);
    this.#sendFrame(FRAME_SAMPLES);
  }

  /** @param samples changed to the level of sent sound; undefined for silence */
  #encode(samples: Int16Array | undefined): void {
    const { voice } = this.#box;
    if (voice === undefined || this.latch.target === undefined) return this.#sender.pause();
    const length = voice.encode(this.#atGainOut(samples), this.#sender.datagram, RTP_HEADER_BYTES);
    if (length === 0) this.#sender.pause();
    else this.#sendFrame(length);
  }

  /** Sends no audio in this frame slot, only a waiting digit. */
  writeNothing(): void {
    if (!this.#sendPendingDigit() && this.#peer === undefined) this.#sender.pause();
  }

  /** Queues digits as telephone-events. Returns false if these were not negotiated. */
  sendDigits(digits: string, milliseconds: number): boolean {
    if (this.#telephoneEvent === undefined) return false;
    return this.#eventSender.enqueue(digits, milliseconds) > 0;
  }

  #atGainOut(samples: Int16Array | undefined): Int16Array | undefined {
    if (samples === undefined || this.#gainOut === 0) return samples;
    // A copy: recordings get the frame itself.
    const changed = samples.slice();
    atLevel(changed, this.#gainOut);
    return changed;
  }

  /** Closes the sockets and leaves the peer. Further calls have no effect. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#box.close();
    this.#peer = undefined;
    this.#pair.rtp.removeAllListeners('message');
    this.#pair.release();
  }

  /** @returns true when this slot carries no audio: a digit is sent, or sending is not allowed */
  #slotTaken(): boolean {
    if (this.#sendPendingDigit()) return true;
    if (this.#canSend()) return false;
    this.#sender.pause();
    return true;
  }

  #canSend(): boolean {
    return this.#maySend && !this.#closed;
  }

  #sendFrame(octets: number): void {
    const { ticker } = this.#environment;
    const length = this.#sender.frame(ticker.frame, this.#payloadType, octets);
    this.counters.outMediaPackets += 1;
    this.#send(length, ticker.latenessMs());
  }

  /** @returns true when this frame slot belongs to a digit */
  #sendPendingDigit(): boolean {
    if (this.#eventSender.pending === 0 || this.#telephoneEvent === undefined || !this.#canSend()) return false;
    const packet = this.#eventSender.next();
    if (packet === undefined) return false;
    if (packet === 'gap') return true;
    const { ticker } = this.#environment;
    const { payload } = this.#eventSender;
    this.#sender.datagram.set(payload, RTP_HEADER_BYTES);
    const length = this.#sender.event(
      ticker.frame,
      this.#telephoneEvent,
      payload.length,
      packet.marker,
      packet.framesSinceStart,
    );
    this.counters.outDtmfPackets += 1;
    this.#send(length, ticker.latenessMs());
    return true;
  }

  #send(length: number, latenessMs: number): void {
    const target = this.latch.target;
    if (target === undefined) return;
    const sealed = this.#security.sealRtp(this.#sender.datagram, length);
    if (sealed === 0) return;
    this.counters.outPackets += 1;
    this.counters.outRawBytes += sealed;
    this.counters.outMediaBytes += sealed;
    this.#environment.figures.sent(latenessMs);
    this.#pair.rtp.send(this.#sender.cut(sealed), target.port, target.address);
  }

  /** The plain packet, read into `#packet`; undefined for anything else. */
  #opened(received: Buffer): Buffer | undefined {
    if (this.#security === PLAIN) return parseRtp(received, this.#packet) ? received : undefined;
    const clear = rtpHeaderOctets(received);
    if (clear < 0) return undefined;
    const length = this.#security.openRtp(received, clear);
    if (length < 0) return undefined;
    const datagram = received.subarray(0, length);
    return parseRtp(datagram, this.#packet) ? datagram : undefined;
  }

  #receiveMixed(datagram: Buffer, from: RemoteInfo): void {
    if (isRtcp(datagram)) this.#rtcp.receive(datagram, from, this.#pair.rtp);
    else this.#receive(datagram, from);
  }

  #receive(received: Buffer, from: RemoteInfo): void {
    if (this.#relaying) return this.#receiveRelayed(received, from);
    const datagram = this.#opened(received);
    if (datagram === undefined) {
      this.counters.inSkipPackets += 1;
      return;
    }
    const packet = this.#packet;
    const { payloadType } = packet;
    const codec = this.#formats.get(payloadType);
    const isEvent = payloadType === this.#telephoneEvent;
    if (codec === undefined && !isEvent && payloadType !== COMFORT_NOISE) {
      this.counters.inSkipPackets += 1;
      return;
    }
    if (this.latch.accept(from.address, from.port) === 'stranger') {
      this.counters.inSkipPackets += 1;
      return;
    }
    this.#heardFrame = this.#environment.ticker.frame;
    if (packet.ssrc !== this.#sourceSsrc) this.#startSource(packet.ssrc);
    this.counters.inPackets += 1;
    this.counters.inRawBytes += datagram.length;
    this.#rtcp.received(from.address);
    this.reception.heard(packet, performance.now());
    if (!this.#mayReceive) return this.#peer?.passNothing();
    if (isEvent) this.#receiveEvent(datagram, packet);
    else if (codec === undefined) this.#receiveComfortNoise(packet);
    else this.#receiveAudio(datagram, packet, codec);
  }

  #receiveRelayed(datagram: Buffer, { address, port }: RemoteInfo): void {
    const isLateSound = parseRtp(datagram, this.#packet) && this.#packet.ssrc === this.#sourceSsrc;
    if (isLateSound || this.latch.accept(address, port) === 'stranger') {
      this.counters.inSkipPackets += 1;
      return;
    }
    this.#heardFrame = this.#environment.ticker.frame;
    this.counters.inPackets += 1;
    this.counters.inRawBytes += datagram.length;
    this.#peer?.passOnDatagram(datagram);
  }

  /** Sends a datagram of the joined session as it is. */
  passOnDatagram(datagram: Buffer): void {
    const { target } = this.latch;
    if (!this.#relaying || this.#closed || target === undefined) return;
    this.counters.outPackets += 1;
    this.counters.outRawBytes += datagram.length;
    this.#environment.figures.sent(0);
    this.#pair.rtp.send(datagram, target.port, target.address);
  }

  #startSource(ssrc: number): void {
    this.#sourceSsrc = ssrc;
    this.#endDigit();
    this.#events.reset();
    this.#jitter.reset();
    this.#transitBase = Number.POSITIVE_INFINITY;
  }

  #endDigit(): void {
    this.#tellDigit(this.#events.flush());
  }

  #tellDigit(digit: ReceivedDigit | undefined): void {
    if (digit !== undefined) this.onDigit(digit.digit, Math.round((digit.duration * 8000) / this.#eventClock));
  }

  #receiveEvent(datagram: Buffer, packet: RtpPacket): void {
    this.counters.inDtmfPackets += 1;
    this.reception.interrupt();
    const { payloadOffset, payloadLength } = packet;
    this.#peer?.passOnEvent(datagram, packet, this.#eventClock);
    this.#tellDigit(this.#events.receive(datagram, payloadOffset, payloadLength, packet));
  }

  #receiveComfortNoise(packet: RtpPacket): void {
    this.counters.inCngPackets += 1;
    this.reception.interrupt();
    this.#peer?.passOver(packet);
  }

  #receiveAudio(datagram: Buffer, packet: RtpPacket, codec: Codec): void {
    // Audio during an open digit: all its end packets were lost.
    if (this.#events.active) this.#endDigit();
    this.counters.inMediaPackets += 1;
    this.counters.inMediaBytes += datagram.length;
    if (codec !== this.#receivedCodec) {
      if (areRelayed(codec, this.#receivedCodec)) this.#receivedCodec = codec;
      else this.#receivedAs(codec);
    }
    if (isG711(codec)) this.#changeOctets(datagram, packet, codec);
    this.#peer?.passOnAudio(datagram, packet, this);
    if (this.#buffering > 0) this.#buffer(datagram, packet, codec);
  }

  /** Changes the level of G.711, or mutes it, in place. */
  #changeOctets(datagram: Buffer, { payloadOffset, payloadLength }: RtpPacket, codec: G711Codec): void {
    const gain = gainTable(codec, this.#gainIn);
    if (gain !== undefined) translateOctets(datagram, payloadOffset, payloadLength, gain);
    if (this.mutedIn) datagram.fill(codec.silence, payloadOffset, payloadOffset + payloadLength);
  }

  #buffer(datagram: Buffer, { sequence, payloadOffset, payloadLength }: RtpPacket, codec: Codec): void {
    if (codec !== OPUS) return this.#jitter.push(sequence, datagram, payloadOffset, payloadLength);
    const milliseconds = opusMilliseconds(datagram, payloadOffset, payloadLength);
    if (milliseconds === 0) this.counters.inSkipPackets += 1;
    else this.#jitter.push(sequence, datagram, payloadOffset, payloadLength, milliseconds / FRAME_MS);
  }

  /** The codec in which the far end sends. */
  get receivedCodec(): Codec {
    return this.#receivedCodec;
  }

  /** Lateness of a packet relative to the quickest of its stream, ms; at most the time that it can have waited here. */
  lateness(timestamp: number): number {
    const now = performance.now();
    const transit = now - timestampDistance(0, timestamp) / this.reception.units;
    // The base follows a far end whose clock is up to 250 parts per million slower.
    this.#transitBase = Math.min(transit, this.#transitBase + CLOCK_DRIFT_MS);
    return Math.min(transit - this.#transitBase, this.#environment.lag.at(now));
  }

  /** Sends a packet of the joined session. */
  passOnAudio(datagram: Buffer, packet: RtpPacket, from: RtpSession): void {
    // Until the bridge decodes, packets of another codec are left out.
    if (!this.#canSend() || !this.relays(from)) return this.passNothing();
    const latenessMs = from.lateness(packet.timestamp);
    if (this.#eventSender.pending > 0) {
      this.#sender.omit(packet);
      return;
    }
    const target = this.#sender.datagram;
    const length = Math.min(packet.payloadLength, MAX_PAYLOAD);
    const codec = this.#g711;
    const table = codec === undefined ? undefined : transcodingTable(from.#receivedCodec as G711Codec, codec);
    const start = packet.payloadOffset;
    if (codec !== undefined && this.mutedOut) target.fill(codec.silence, RTP_HEADER_BYTES, RTP_HEADER_BYTES + length);
    else if (table === undefined) datagram.copy(target, RTP_HEADER_BYTES, start, start + length);
    else {
      for (let index = 0; index < length; index += 1) {
        target[RTP_HEADER_BYTES + index] = table[datagram[start + index] as number] as number;
      }
    }
    if (codec !== undefined) this.#applyGainOut(codec, length);
    const size = this.#sender.translate(this.#environment.ticker.frame, packet, this.#payloadType, length);
    this.counters.outMediaPackets += 1;
    this.#send(size, latenessMs);
  }

  #applyGainOut(codec: G711Codec, length: number): void {
    const gain = gainTable(codec, this.#gainOut);
    if (gain !== undefined) translateOctets(this.#sender.datagram, RTP_HEADER_BYTES, length, gain);
  }

  /** Sends a telephone-event packet of the joined session under this side's payload type. */
  passOnEvent(datagram: Buffer, packet: RtpPacket, clock: number): void {
    if (!this.#canSend() || this.#telephoneEvent === undefined || packet.payloadLength > 64) {
      this.#sender.omit(packet);
      return;
    }
    const start = packet.payloadOffset;
    datagram.copy(this.#sender.datagram, RTP_HEADER_BYTES, start, start + packet.payloadLength);
    if (clock !== this.#eventClock) rescaleEvent(this.#sender.datagram, RTP_HEADER_BYTES, this.#eventClock / clock);
    const { ticker } = this.#environment;
    const size = this.#sender.translate(ticker.frame, packet, this.#telephoneEvent, packet.payloadLength);
    this.counters.outDtmfPackets += 1;
    this.#send(size, 0);
  }

  /** Stops forwarding the joined session's packets (hold, end of the join); later packets do not show a loss. */
  passNothing(): void {
    this.#sender.interrupt();
  }

  /** Leaves out a packet of the joined session. */
  passOver(packet: RtpPacket): void {
    this.#sender.omit(packet);
  }
}

function translateOctets(bytes: Uint8Array, offset: number, length: number, table: Uint8Array): void {
  for (let index = offset; index < offset + length; index += 1) bytes[index] = table[bytes[index] as number] as number;
}
