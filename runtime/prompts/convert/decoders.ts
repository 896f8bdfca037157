/** Decoders of sound files. Each is given the file piece by piece. */
import type { SoundKind } from './kinds.ts';
import { WavDecoder } from './wav-decoder.ts';

/** Decoded sound: one list of samples from -1 to 1 a channel. */
export interface Piece {
  readonly channels: readonly Float32Array[];
  /** Samples a second. */
  readonly rate: number;
  /** Broken frames. */
  readonly faults?: number;
}
export type Pieces = readonly Piece[];

export interface Decoder {
  /** @throws SoundError */
  decode(bytes: Uint8Array): Promise<Pieces>;
  /** The end of the file. */
  flush(): Promise<Pieces>;
}

/** What the decoders of eshaz/wasm-audio-decoders return. */
interface Decoded {
  readonly channelData: readonly Float32Array[];
  readonly samplesDecoded: number;
  readonly sampleRate: number;
  readonly errors: readonly unknown[];
}

/** Opens the decoder of a kind; its library is loaded for it alone. */
export async function openDecoder(kind: SoundKind): Promise<Decoder> {
  switch (kind) {
    case 'wav':
      return new WavDecoder();
    case 'mp3': {
      const { MPEGDecoder } = await import('mpg123-decoder');
      const decoder = new MPEGDecoder();
      await decoder.ready;
      // It keeps nothing back that a flush would return.
      return { decode: async (bytes) => pieces(decoder.decode(bytes)), flush: async () => [] };
    }
    case 'opus': {
      const { OggOpusDecoder } = await import('ogg-opus-decoder');
      const decoder = new OggOpusDecoder({ forceStereo: false });
      await decoder.ready;
      return {
        // Its declaration lacks the promise.
        decode: async (bytes) => pieces(await Promise.resolve(decoder.decode(bytes))),
        flush: async () => pieces(await decoder.flush()),
      };
    }
    case 'flac': {
      const { FLACDecoder } = await import('@wasm-audio-decoders/flac');
      const decoder = new FLACDecoder();
      await decoder.ready;
      return {
        decode: async (bytes) => pieces(await decoder.decode(bytes)),
        flush: async () => pieces(await decoder.flush()),
      };
    }
    default:
      return kind satisfies never;
  }
}

function pieces({ channelData, samplesDecoded, sampleRate, errors }: Decoded): Pieces {
  return [{ channels: samplesDecoded === 0 ? [] : channelData, rate: sampleRate, faults: errors.length }];
}
