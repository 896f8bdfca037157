/** What an RTP session sends. */
import type { Codec } from '../audio/codec.ts';
import { areRelayed } from '../audio/codecs.ts';
import { FRAME_MS, FRAME_SAMPLES } from '../audio/format.ts';
import { encodeG711, type G711Codec, gainTable, isG711, PCMU, transcodingTable } from '../audio/g711.ts';
import { atLevel } from '../audio/mix.ts';
import type { IncomingStream } from './incoming.ts';
import type { MediaPort } from './media-port.ts';
import { RTP_HEADER_BYTES, type RtpPacket } from './packet.ts';
import { MAX_PAYLOAD, RtpSender } from './sender.ts';
import { type RtpParameters, translateOctets } from './session-parameters.ts';
import { rescaleEvent, TelephoneEventSender } from './telephone-event.ts';
import type { VoiceBox } from './voice-box.ts';

/** The outgoing side of a session: frames of sound and digits, or the packets of the joined session. */
export class OutgoingStream {
  readonly #port: MediaPort;
  readonly #box: VoiceBox;
  readonly #sender = new RtpSender();
  readonly #eventSender = new TelephoneEventSender();
  #codec: Codec = PCMU;
  /** Set when the codec is G.711. */
  #g711: G711Codec | undefined = PCMU;
  #payloadType = PCMU.payloadType;
  #eventClock = 8000;
  #telephoneEvent: number | undefined;
  maySend = false;
  /** Silence replaces the sound. */
  muted = false;
  /** Change of the level, steps of 3 dB. */
  gain = 0;

  constructor(port: MediaPort, box: VoiceBox) {
    this.#port = port;
    this.#box = box;
  }

  get ssrc(): number {
    return this.#sender.ssrc;
  }

  get codec(): Codec {
    return this.#codec;
  }

  get telephoneEvent(): number | undefined {
    return this.#telephoneEvent;
  }

  /** True while digits wait to be sent. */
  get sendingDigits(): boolean {
    return this.#eventSender.pending > 0;
  }

  /** Applies an answer or a new offer. */
  configure({ codec, payloadType, telephoneEvent, eventClock = 8000, maySend }: RtpParameters): void {
    this.#telephoneEvent = telephoneEvent;
    this.#eventClock = eventClock;
    this.#eventSender.frameUnits = (eventClock * FRAME_MS) / 1000;
    this.maySend = maySend;
    this.#payloadType = payloadType ?? codec.payloadType;
    if (codec === this.#codec) return;
    this.#codec = codec;
    this.#g711 = isG711(codec) ? codec : undefined;
    this.#sender.setClock(codec.clockRate, this.#port.environment.ticker.frame);
  }

  /**
   * Whether another session's packets can be sent on as they are. Muted or changed sound is decoded, except G.711, which is changed by
   * tables.
   */
  relays(from: IncomingStream): boolean {
    if (this.#port.relaying || from.relaying) return true;
    if (!areRelayed(from.codec, this.#codec)) return false;
    return this.#g711 !== undefined || !(from.muted || from.gain !== 0 || this.muted || this.gain !== 0);
  }

  /** Sends one frame of linear samples, at the session's rate, in this frame slot. */
  write(samples: Int16Array): void {
    if (this.muted) return this.writeSilence();
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
    if (voice === undefined || this.#port.latch.target === undefined) return this.#sender.pause();
    const length = voice.encode(this.#atGainOut(samples), this.#sender.datagram, RTP_HEADER_BYTES);
    if (length === 0) this.#sender.pause();
    else this.#sendFrame(length);
  }

  /** Sends no audio in this frame slot, only a waiting digit. @param joined whether packets of another session are sent on */
  writeNothing(joined: boolean): void {
    if (!this.#sendPendingDigit() && !joined) this.#sender.pause();
  }

  /** Queues digits as telephone-events. Returns false if these were not negotiated. */
  sendDigits(digits: string, milliseconds: number): boolean {
    if (this.#telephoneEvent === undefined) return false;
    return this.#eventSender.enqueue(digits, milliseconds) > 0;
  }

  #atGainOut(samples: Int16Array | undefined): Int16Array | undefined {
    if (samples === undefined || this.gain === 0) return samples;
    // A copy: recordings get the frame itself.
    const changed = samples.slice();
    atLevel(changed, this.gain);
    return changed;
  }

  /** @returns true when this slot carries no audio: a digit is sent, or sending is not allowed */
  #slotTaken(): boolean {
    if (this.#sendPendingDigit()) return true;
    if (this.#canSend()) return false;
    this.#sender.pause();
    return true;
  }

  #canSend(): boolean {
    return this.maySend && !this.#port.closed;
  }

  #sendFrame(octets: number): void {
    const { ticker } = this.#port.environment;
    const length = this.#sender.frame(ticker.frame, this.#payloadType, octets);
    this.#port.counters.outMediaPackets += 1;
    this.#port.send(this.#sender, length, ticker.latenessMs());
  }

  /** @returns true when this frame slot belongs to a digit */
  #sendPendingDigit(): boolean {
    if (this.#eventSender.pending === 0 || this.#telephoneEvent === undefined || !this.#canSend()) return false;
    const packet = this.#eventSender.next();
    if (packet === undefined) return false;
    if (packet === 'gap') return true;
    const { ticker } = this.#port.environment;
    const { payload } = this.#eventSender;
    this.#sender.datagram.set(payload, RTP_HEADER_BYTES);
    const length = this.#sender.event(
      ticker.frame,
      this.#telephoneEvent,
      payload.length,
      packet.marker,
      packet.framesSinceStart,
    );
    this.#port.counters.outDtmfPackets += 1;
    this.#port.send(this.#sender, length, ticker.latenessMs());
    return true;
  }

  /** Sends a datagram of the joined session as it is. */
  passOnDatagram(datagram: Buffer): void {
    this.#port.pass(datagram);
  }

  /** Sends a packet of the joined session. */
  passOnAudio(datagram: Buffer, packet: RtpPacket, from: IncomingStream): void {
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
    const table = codec === undefined ? undefined : transcodingTable(from.codec as G711Codec, codec);
    const start = packet.payloadOffset;
    if (codec !== undefined && this.muted) target.fill(codec.silence, RTP_HEADER_BYTES, RTP_HEADER_BYTES + length);
    else if (table === undefined) datagram.copy(target, RTP_HEADER_BYTES, start, start + length);
    else {
      for (let index = 0; index < length; index += 1) {
        target[RTP_HEADER_BYTES + index] = table[datagram[start + index] as number] as number;
      }
    }
    if (codec !== undefined) this.#applyGainOut(codec, length);
    const size = this.#sender.translate(this.#port.environment.ticker.frame, packet, this.#payloadType, length);
    this.#port.counters.outMediaPackets += 1;
    this.#port.send(this.#sender, size, latenessMs);
  }

  #applyGainOut(codec: G711Codec, length: number): void {
    const gain = gainTable(codec, this.gain);
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
    const { ticker } = this.#port.environment;
    const size = this.#sender.translate(ticker.frame, packet, this.#telephoneEvent, packet.payloadLength);
    this.#port.counters.outDtmfPackets += 1;
    this.#port.send(this.#sender, size, 0);
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
