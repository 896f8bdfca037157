/** The RTP session of a channel. */
import type { RemoteInfo } from 'node:dgram';
import { FRAME_MS, FRAME_SAMPLES } from '../audio/format.ts';
import { type Codec, codecOf, decodeG711, encodeG711, gainTable, PCMU, transcodingTable } from '../audio/g711.ts';
import { emptyCounters, type MediaFigures, type SessionCounters } from './figures.ts';
import { JitterBuffer } from './jitter-buffer.ts';
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
import { TelephoneEventReceiver, TelephoneEventSender } from './telephone-event.ts';
import type { ThreadLag } from './thread-lag.ts';
import type { Ticker } from './ticker.ts';

/** Allowed drift of the clocks with each packet, ms. */
const CLOCK_DRIFT_MS = 0.005;

/** Payload type of comfort noise (RFC 3389). */
const COMFORT_NOISE = 13;

/** Scratch memory for the payload being decoded, shared by all sessions. */
const pulled = new Uint8Array(FRAME_SAMPLES * 3);

/** The parameters of a session that SDP has negotiated. */
export interface RtpParameters {
  readonly codec: Codec;
  /** Payload type of telephone-event; undefined if not negotiated. */
  readonly telephoneEvent: number | undefined;
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
  #receivedCodec: Codec = PCMU;
  #telephoneEvent: number | undefined;
  #security: PacketSecurity = PLAIN;
  /** Takes what is neither RTP nor RTCP, and says that both share the port. */
  #transport: ((datagram: Buffer, from: RemoteInfo) => boolean) | undefined;
  #maySend = false;
  #mayReceive = false;
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
    this.#codec = parameters.codec;
    this.#telephoneEvent = parameters.telephoneEvent;
    this.#maySend = parameters.maySend;
    this.#mayReceive = parameters.mayReceive;
    const own = parameters.remotePort === this.localPort && parameters.remoteAddress === this.localAddress;
    // An answer that echoes the own offer (an endpoint without far end) must not make the session send to itself.
    this.latch.expect(parameters.remoteAddress, own ? 0 : parameters.remotePort);
    if (!this.#mayReceive) this.#endDigit();
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
    return length === 0 ? 0 : decodeG711(this.#receivedCodec, pulled, 0, length, target);
  }

  /** Sends one frame of linear samples in this frame slot. */
  write(samples: Int16Array): void {
    if (this.mutedOut) return this.writeSilence();
    if (this.#slotTaken()) return;
    encodeG711(this.#codec, samples, FRAME_SAMPLES, this.#sender.datagram, RTP_HEADER_BYTES);
    this.#applyGainOut(FRAME_SAMPLES);
    this.#sendFrame();
  }

  /** Sends one frame of silence in this frame slot. */
  writeSilence(): void {
    if (this.#slotTaken()) return;
    this.#sender.datagram.fill(this.#codec.silence, RTP_HEADER_BYTES, RTP_HEADER_BYTES + FRAME_SAMPLES);
    this.#sendFrame();
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

  /** Closes the sockets and leaves the peer. Further calls have no effect. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
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

  #sendFrame(): void {
    const { ticker } = this.#environment;
    const length = this.#sender.frame(ticker.frame, this.#codec.payloadType, FRAME_SAMPLES);
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
    const datagram = this.#opened(received);
    if (datagram === undefined) {
      this.counters.inSkipPackets += 1;
      return;
    }
    const packet = this.#packet;
    const { payloadType } = packet;
    const codec = codecOf(payloadType);
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

  #startSource(ssrc: number): void {
    this.#sourceSsrc = ssrc;
    this.#endDigit();
    this.#events.reset();
    this.#jitter.reset();
    this.#transitBase = Number.POSITIVE_INFINITY;
  }

  #endDigit(): void {
    const digit = this.#events.flush();
    if (digit !== undefined) this.onDigit(digit.digit, digit.duration);
  }

  #receiveEvent(datagram: Buffer, packet: RtpPacket): void {
    this.counters.inDtmfPackets += 1;
    this.reception.interrupt();
    const { payloadOffset, payloadLength } = packet;
    this.#peer?.passOnEvent(datagram, packet);
    const digit = this.#events.receive(datagram, payloadOffset, payloadLength, packet);
    if (digit !== undefined) this.onDigit(digit.digit, digit.duration);
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
    this.#receivedCodec = codec;
    const gain = gainTable(codec, this.#gainIn);
    if (gain !== undefined) translateOctets(datagram, packet.payloadOffset, packet.payloadLength, gain);
    if (this.mutedIn) datagram.fill(codec.silence, packet.payloadOffset, packet.payloadOffset + packet.payloadLength);
    this.#peer?.passOnAudio(datagram, packet, codec, this.#lateness(packet.timestamp));
    if (this.#buffering > 0) {
      this.#jitter.push(packet.sequence, datagram, packet.payloadOffset, packet.payloadLength);
    }
  }

  /** Lateness of a packet relative to the quickest of its stream, ms; at most the time that it can have waited here. */
  #lateness(timestamp: number): number {
    const now = performance.now();
    const transit = now - timestampDistance(0, timestamp) / 8;
    // The base follows a far end whose clock is up to 250 parts per million slower.
    this.#transitBase = Math.min(transit, this.#transitBase + CLOCK_DRIFT_MS);
    return Math.min(transit - this.#transitBase, this.#environment.lag.at(now));
  }

  /** Sends a packet of the joined session. */
  passOnAudio(datagram: Buffer, packet: RtpPacket, codec: Codec, latenessMs: number): void {
    if (!this.#canSend()) return this.passNothing();
    if (this.#eventSender.pending > 0) {
      this.#sender.omit(packet);
      return;
    }
    const target = this.#sender.datagram;
    const length = Math.min(packet.payloadLength, MAX_PAYLOAD);
    const table = transcodingTable(codec, this.#codec);
    const start = packet.payloadOffset;
    if (this.mutedOut) target.fill(this.#codec.silence, RTP_HEADER_BYTES, RTP_HEADER_BYTES + length);
    else if (table === undefined) datagram.copy(target, RTP_HEADER_BYTES, start, start + length);
    else {
      for (let index = 0; index < length; index += 1) {
        target[RTP_HEADER_BYTES + index] = table[datagram[start + index] as number] as number;
      }
    }
    this.#applyGainOut(length);
    const size = this.#sender.translate(this.#environment.ticker.frame, packet, this.#codec.payloadType, length);
    this.counters.outMediaPackets += 1;
    this.#send(size, latenessMs);
  }

  #applyGainOut(length: number): void {
    const gain = gainTable(this.#codec, this.#gainOut);
    if (gain !== undefined) translateOctets(this.#sender.datagram, RTP_HEADER_BYTES, length, gain);
  }

  /** Sends a telephone-event packet of the joined session under this side's payload type. */
  passOnEvent(datagram: Buffer, packet: RtpPacket): void {
    if (!this.#canSend() || this.#telephoneEvent === undefined || packet.payloadLength > 64) {
      this.#sender.omit(packet);
      return;
    }
    const start = packet.payloadOffset;
    datagram.copy(this.#sender.datagram, RTP_HEADER_BYTES, start, start + packet.payloadLength);
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
