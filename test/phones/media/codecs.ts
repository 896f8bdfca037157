/** The codecs of the phone. G.711 has no state; the others have encoders and decoders of a call. */
import { createDecoder, createEncoder } from 'libopus-wasm';
import { G722Decoder, G722Encoder } from '../../../runtime/embedded/media/audio/g722.ts';
import { decode, encode, type G711 } from './g711.ts';

export type Codec = G711 | 'G722' | 'OPUS';

interface CodecFacts {
  /** Of the phone's own offers. */
  readonly payloadType: number;
  readonly rtpmap: string;
  /** Samples a second. */
  readonly rate: number;
  /** Units a second of timestamps, and of telephone-events. */
  readonly clock: number;
}

export const CODECS: Readonly<Record<Codec, CodecFacts>> = {
  PCMU: { payloadType: 0, rtpmap: 'PCMU/8000', rate: 8000, clock: 8000 },
  PCMA: { payloadType: 8, rtpmap: 'PCMA/8000', rate: 8000, clock: 8000 },
  G722: { payloadType: 9, rtpmap: 'G722/8000', rate: 16_000, clock: 8000 },
  OPUS: { payloadType: 111, rtpmap: 'opus/48000/2', rate: 16_000, clock: 48_000 },
};

/** The codec of a name in `a=rtpmap`. */
export function codecNamed(rtpmap: string): Codec | undefined {
  const names = Object.keys(CODECS) as Codec[];
  return names.find((codec) => CODECS[codec].rtpmap.toUpperCase() === rtpmap.toUpperCase());
}

/** Encodes and decodes one call. */
export interface Coder {
  encode(samples: Int16Array): Buffer;
  decode(payload: Uint8Array): Int16Array;
  close(): void;
}

export async function openCoder(codec: Codec): Promise<Coder> {
  if (codec === 'OPUS') return openOpus();
  if (codec === 'G722') return new G722();
  return {
    encode: (samples) => encode(codec, samples),
    decode: (payload) => decode(codec, payload),
    close: () => undefined,
  };
}

async function openOpus(): Promise<Coder> {
  const [encoder, decoder] = await Promise.all([
    createEncoder({ sampleRate: 16_000, channels: 1, frameSize: 320, complexity: 1, bitrate: 32_000 }),
    createDecoder({ sampleRate: 16_000, channels: 1 }),
  ]);
  return {
    encode: (samples) => Buffer.from(encoder.encode(samples)),
    decode: (payload) => decoder.decode(payload),
    close: () => {
      encoder.free();
      decoder.free();
    },
  };
}

/** The project's own, which a test compares with another implementation. */
class G722 implements Coder {
  readonly #encoder = new G722Encoder();
  readonly #decoder = new G722Decoder();

  encode(samples: Int16Array): Buffer {
    const octets = Buffer.alloc(samples.length / 2);
    this.#encoder.encode(samples, octets, 0);
    return octets;
  }

  decode(payload: Uint8Array): Int16Array {
    const samples = new Int16Array(payload.length * 2);
    this.#decoder.decode(payload, samples);
    return samples;
  }

  close(): void {
    // No memory of its own.
  }
}
