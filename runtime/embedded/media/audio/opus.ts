/** The codec Opus (RFC 6716, RFC 7587): mono, wideband, in packets of 20 ms. */
import type { OpusDecoderHandle, OpusEncoderHandle } from 'libopus-wasm';
import type { Codec, FormatParameters, Voice } from './codec.ts';
import { MOST_FRAME_SAMPLES, WIDEBAND_RATE } from './format.ts';

/** Its rate in RTP is always 48 kHz (RFC 7587 section 4.1), whatever is encoded. */
export const OPUS: Codec = { name: 'opus', payloadType: 102, rate: 16_000, clockRate: 48_000, bitRate: 28_000 };

/** Bits a second: as sent by default, and the least that a far end can ask for. */
const BIT_RATE = 28_000;
const LEAST_BIT_RATE = 6000;

/** Effort of the encoder, 0 to 10: beyond it costs grow faster than the quality of speech. */
const COMPLEXITY = 5;

/** Loss that the copies of lost sound (in-band FEC) are made for, in percent. */
const EXPECTED_LOSS = 10;

/** Longest packet that is sent (RFC 6716 section 3.2.1). */
const MOST_OCTETS = 1275;

/** Packets this short need not be sent: the far end makes noise of its own (DTX). */
const DTX_OCTETS = 2;

/** The shortest packet of silence, and the frames of silence before it may take the place of the encoder. */
const SILENT_PACKET = Uint8Array.of(0xf8, 0xff, 0xfe);
const SILENT_FRAMES = 5;

/** Frames between two packets while the far end makes noise of its own, as in libopus. */
const DTX_FRAMES = 20;

/** Longest packet, ms (RFC 6716 section 3.1). */
const MOST_MS = 120;

const SILENCE = new Int16Array(MOST_FRAME_SAMPLES);

/** Milliseconds of one frame by the two low bits of the configuration, for its modes SILK, hybrid and CELT. */
const SILK_MS = [10, 20, 40, 60];
const HYBRID_MS = [10, 20];
const CELT_MS = [2.5, 5, 10, 20];

/**
 * Length of a packet in milliseconds by its first octets (RFC 6716 section 3.1); 0 for an invalid one.
 */
export function opusMilliseconds(datagram: Uint8Array, offset: number, length: number): number {
  if (length < 1) return 0;
  const toc = datagram[offset] as number;
  const configuration = toc >> 3;
  const mode = configuration < 12 ? SILK_MS : configuration < 16 ? HYBRID_MS : CELT_MS;
  const frame = mode[configuration & (mode.length - 1)] as number;
  const code = toc & 3;
  if (code === 3 && length < 2) return 0;
  const frames = code === 0 ? 1 : code === 3 ? (datagram[offset + 1] as number) & 0x3f : 2;
  const total = frame * frames;
  return total > MOST_MS ? 0 : total;
}

let isLoaded = false;

/** Whether the library is loaded. */
export function opusLoaded(): boolean {
  return isLoaded;
}

/** Loads the library with the first call that needs it. Rejects when it cannot be loaded. */
export async function loadOpus(): Promise<void> {
  await (await library()).loadLibopus();
  isLoaded = true;
}

const library = () => import('libopus-wasm');

/** Encoder and decoder of a leg. */
export class OpusVoice implements Voice {
  readonly #encoder: OpusEncoderHandle;
  readonly #decoder: OpusDecoderHandle;
  readonly #usesDtx: boolean;
  #silentFrames = 0;
  #lastSamples = MOST_FRAME_SAMPLES;

  private constructor(encoder: OpusEncoderHandle, decoder: OpusDecoderHandle, usesDtx: boolean) {
    this.#usesDtx = usesDtx;
    this.#encoder = encoder;
    this.#decoder = decoder;
  }

  /**
   * Makes both.
   * @param wanted what the far end wants to get: `maxaveragebitrate`, `useinbandfec`, `usedtx`, `cbr`
   */
  static async open(wanted: FormatParameters): Promise<OpusVoice> {
    const { Application, createDecoder, createEncoder } = await library();
    const isWanted = (name: string): boolean => wanted.get(name) === '1';
    const most = Number(wanted.get('maxaveragebitrate'));
    const encoder = await createEncoder({
      sampleRate: WIDEBAND_RATE,
      channels: 1,
      frameSize: MOST_FRAME_SAMPLES,
      application: Application.Voip,
      bitrate: most > 0 ? Math.max(LEAST_BIT_RATE, Math.min(BIT_RATE, Math.trunc(most))) : BIT_RATE,
      complexity: COMPLEXITY,
      fec: isWanted('useinbandfec'),
      packetLossPercent: isWanted('useinbandfec') ? EXPECTED_LOSS : 0,
      dtx: isWanted('usedtx'),
      vbr: !isWanted('cbr'),
    });
    try {
      return new OpusVoice(
        encoder,
        await createDecoder({ sampleRate: WIDEBAND_RATE, channels: 1 }),
        isWanted('usedtx'),
      );
    } catch (error) {
      encoder.free();
      throw error;
    }
  }

  decode(payload: Uint8Array, target: Int16Array): number {
    const samples = this.#decoded(payload);
    if (samples === undefined || samples.length > target.length) return 0;
    target.set(samples);
    this.#lastSamples = samples.length;
    return samples.length;
  }

  conceal(next: Uint8Array | undefined, target: Int16Array): number {
    const frameSize = Math.min(this.#lastSamples, target.length);
    const samples = this.#decoded(next ?? null, { decodeFec: next !== undefined, frameSize });
    if (samples === undefined) return 0;
    target.set(samples);
    return samples.length;
  }

  encode(frame: Int16Array | undefined, target: Uint8Array, offset: number): number {
    this.#silentFrames = frame === undefined ? this.#silentFrames + 1 : 0;
    const isLongSilent = this.#silentFrames > SILENT_FRAMES;
    if (isLongSilent && this.#usesDtx && this.#silentFrames % DTX_FRAMES > 0) return 0;
    const packet = isLongSilent ? SILENT_PACKET : this.#encoded(frame ?? SILENCE);
    if (packet.length <= DTX_OCTETS) return 0;
    target.set(packet, offset);
    return packet.length;
  }

  free(): void {
    this.#encoder.free();
    this.#decoder.free();
  }

  #encoded(frame: Int16Array): Uint8Array {
    return this.#encoder.encode(frame, { maxPacketBytes: MOST_OCTETS });
  }

  /** Undefined for what libopus refuses. */
  #decoded(
    packet: Uint8Array | null,
    options: { readonly decodeFec?: boolean; readonly frameSize?: number } = {},
  ): Int16Array | undefined {
    try {
      return this.#decoder.decode(packet, options);
    } catch {
      return undefined;
    }
  }
}
