/** The RTP session of a channel. */
import type { RemoteInfo } from 'node:dgram';
import type { Codec, FormatParameters } from '../audio/codec.ts';
import type { Rate } from '../audio/format.ts';
import type { SessionCounters } from './figures.ts';
import { IncomingStream } from './incoming.ts';
import type { SourceLatch } from './latch.ts';
import { MediaPort } from './media-port.ts';
import { OutgoingStream } from './outgoing.ts';
import { isRtcp } from './packet.ts';
import type { PortPair } from './ports.ts';
import type { Reception } from './reception.ts';
import { RtcpResponder } from './rtcp.ts';
import type { PacketSecurity } from './security.ts';
import type { RtpEnvironment, RtpParameters } from './session-parameters.ts';
import { VoiceBox } from './voice-box.ts';

const NO_PARAMETERS: FormatParameters = new Map();

/**
 * The media of one channel: a socket pair, an outgoing and an incoming stream. Frames come from the channel's top
 * application, or the session is joined to another one and forwards its packets as they arrive.
 */
export class RtpSession {
  readonly localAddress: string;
  readonly localPort: number;
  readonly #port: MediaPort;
  readonly #box = new VoiceBox();
  readonly #in: IncomingStream;
  readonly #out: OutgoingStream;
  readonly #rtcp: RtcpResponder;
  /** Takes what is neither RTP nor RTCP, and says that both share the port. */
  #transport: ((datagram: Buffer, from: RemoteInfo) => boolean) | undefined;

  constructor(pair: PortPair, localAddress: string, environment: RtpEnvironment) {
    this.localAddress = localAddress;
    this.localPort = pair.port;
    this.#port = new MediaPort(pair, environment);
    this.#out = new OutgoingStream(this.#port, this.#box);
    this.#in = new IncomingStream(this.#port, this.#box, (address) => this.#rtcp.received(address));
    this.#rtcp = new RtcpResponder(pair.rtcp, this.#out.ssrc, this.#in.reception);
    pair.rtp.on('message', (datagram, from) => {
      if (this.#transport === undefined) this.#in.receive(datagram, from);
      else if (!this.#transport(datagram, from)) this.#receiveMixed(datagram, from);
    });
    // The ICMP error of a closed port is ignored: only SIP ends the call.
    pair.rtp.on('error', () => {
      this.counters.inSkipPackets += 1;
    });
  }

  get counters(): SessionCounters {
    return this.#port.counters;
  }

  get latch(): SourceLatch {
    return this.#port.latch;
  }

  /** Loss and jitter of the far end's stream. */
  get reception(): Reception {
    return this.#in.reception;
  }

  get ssrc(): number {
    return this.#out.ssrc;
  }

  /** What the far end reported of the packets sent to it. */
  get reported(): RtcpResponder['reported'] {
    return this.#rtcp.reported;
  }

  get codec(): Codec {
    return this.#out.codec;
  }

  /** The codec in which the far end sends. */
  get receivedCodec(): Codec {
    return this.#in.codec;
  }

  /** Samples a second of frames to write. */
  get rate(): Rate {
    return this.#out.codec.rate;
  }

  /** Samples a second of what `read` returns. */
  get receivedRate(): Rate {
    return this.#in.codec.rate;
  }

  /** Whether another session's packets can be sent on as they are. */
  relays(from: RtpSession): boolean {
    return this.#out.relays(from.#in);
  }

  get telephoneEvent(): number | undefined {
    return this.#out.telephoneEvent;
  }

  /** Whether SDP allows receiving. */
  get mayReceive(): boolean {
    return this.#in.mayReceive;
  }

  /** True while a digit of the far end is being received; no audio comes meanwhile. */
  get receivingDigit(): boolean {
    return this.#in.receivingDigit;
  }

  /** True while digits wait to be sent. */
  get sendingDigits(): boolean {
    return this.#out.sendingDigits;
  }

  /** Milliseconds since the last received packet, or since `restartSilence`. */
  get silentMs(): number {
    return this.#in.silentMs;
  }

  restartSilence(): void {
    this.#in.restartSilence();
  }

  /** Silence replaces the received audio. */
  set mutedIn(muted: boolean) {
    this.#in.muted = muted;
  }

  get mutedIn(): boolean {
    return this.#in.muted;
  }

  /** Silence replaces the sent audio. */
  set mutedOut(muted: boolean) {
    this.#out.muted = muted;
  }

  get mutedOut(): boolean {
    return this.#out.muted;
  }

  /** Called at the end of a digit of the far end; duration in timestamp units. */
  set onDigit(listener: (digit: string, duration: number) => void) {
    this.#in.onDigit = listener;
  }

  /** Applies an answer or a new offer. */
  configure(parameters: RtpParameters): void {
    const { codec, wanted, remoteAddress, remotePort } = parameters;
    this.#port.relaying = false;
    const own = remotePort === this.localPort && remoteAddress === this.localAddress;
    // An answer that echoes the own offer (an endpoint without far end) must not make the session send to itself.
    this.latch.expect(remoteAddress, own ? 0 : remotePort);
    // Nobody uses the codecs of the own offer yet.
    if (!own) this.#box.use(codec, wanted ?? NO_PARAMETERS);
    this.#rtcp.units = codec.clockRate / 1000;
    this.#out.configure(parameters);
    this.#in.configure(parameters);
  }

  /**
   * Passes every datagram on as it is, between this address and the joined session, until `configure`: faxes by T.38 (UDPTL).
   * Both sessions have to relay. Nothing else is sent meanwhile.
   */
  relay(address: string, port: number): void {
    this.#in.endDigit();
    this.#port.relaying = true;
    this.#out.maySend = false;
    this.#in.mayReceive = false;
    this.latch.expect(address, port);
  }

  /** Protects all packets from now on; PLAIN for none. */
  secure(security: PacketSecurity): void {
    this.#port.security = security;
    this.#rtcp.security = security;
  }

  get security(): PacketSecurity {
    return this.#port.security;
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
    if (!this.#port.closed) this.#port.pair.rtp.send(datagram, port, address);
  }

  /** The transport has found out where the far end is: packets go there, and are taken from there only. */
  chooseSource({ address, port }: { readonly address: string; readonly port: number }): void {
    this.latch.expect(address, port);
  }

  /** Changes the level of the received or sent audio by steps of 3 dB, -4..4. */
  setGain(direction: 'read' | 'write', steps: number): void {
    if (direction === 'read') this.#in.gain = steps;
    else this.#out.gain = steps;
  }

  /** Forwards packets to `peer` as they arrive; undefined ends this. */
  joinTo(peer: RtpSession | undefined): void {
    this.#in.joinTo(peer === undefined ? undefined : peer.#out);
  }

  /** Starts or stops buffering received audio for `read`. Calls are counted. */
  buffer(on: boolean): void {
    this.#in.buffer(on);
  }

  /**
   * Decodes the due packet. With packets shorter than a frame, call it several times a tick. Only one reader may call
   * this in a tick.
   *
   * @returns samples written to `target`; 0 without a (further) due packet
   */
  read(target: Int16Array): number {
    return this.#in.read(target);
  }

  /** Sends one frame of linear samples, at the session's rate, in this frame slot. */
  write(samples: Int16Array): void {
    this.#out.write(samples);
  }

  /** Sends one frame of silence in this frame slot. */
  writeSilence(): void {
    this.#out.writeSilence();
  }

  /** Sends no audio in this frame slot, only a waiting digit. */
  writeNothing(): void {
    this.#out.writeNothing(this.#in.peer !== undefined);
  }

  /** Queues digits as telephone-events. Returns false if these were not negotiated. */
  sendDigits(digits: string, milliseconds: number): boolean {
    return this.#out.sendDigits(digits, milliseconds);
  }

  /** Closes the sockets and leaves the peer. Further calls have no effect. */
  close(): void {
    if (this.#port.closed) return;
    this.#port.closed = true;
    this.#box.close();
    this.#in.close();
    this.#port.pair.rtp.removeAllListeners('message');
    this.#port.pair.release();
  }

  #receiveMixed(datagram: Buffer, from: RemoteInfo): void {
    if (isRtcp(datagram)) this.#rtcp.receive(datagram, from, this.#port.pair.rtp);
    else this.#in.receive(datagram, from);
  }
}
