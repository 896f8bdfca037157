/** G.711 codecs. */

import type { Codec } from './codec.ts';

/** An 8 kHz G.711 codec (RFC 3551 section 4.5.14) with its tables to and from linear samples. */
export interface G711Codec extends Codec {
  readonly name: 'PCMU' | 'PCMA';
  /** The octet that decodes to (nearly) zero. */
  readonly silence: number;
  /** 256 linear 16-bit samples, by octet. */
  readonly toLinear: Int16Array;
  /** 65536 octets, by linear sample taken as unsigned 16-bit. */
  readonly fromLinear: Uint8Array;
}

/** ITU-T G.711 mu-law: 8 segments, bias 132, inverted bits. */
function decodeMuLaw(octet: number): number {
  const bits = ~octet & 0xff;
  const magnitude = (((bits & 0x0f) << 3) + 132) << ((bits & 0x70) >> 4);
  return bits & 0x80 ? 132 - magnitude : magnitude - 132;
}

/** ITU-T G.711 A-law: 8 segments, even bits inverted. */
function decodeALaw(octet: number): number {
  const bits = octet ^ 0x55;
  const exponent = (bits & 0x70) >> 4;
  const mantissa = bits & 0x0f;
  const magnitude = exponent === 0 ? (mantissa << 4) + 8 : ((mantissa << 4) + 0x108) << (exponent - 1);
  return bits & 0x80 ? magnitude : -magnitude;
}

function encodeMuLaw(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const magnitude = Math.min(Math.abs(sample), 32635) + 132;
  const exponent = Math.max(0, 24 - Math.clz32(magnitude));
  const mantissa = (magnitude >> (exponent + 3)) & 0x0f;
  return ~(sign | (exponent << 4) | mantissa) & 0xff;
}

function encodeALaw(sample: number): number {
  const sign = sample >= 0 ? 0x80 : 0;
  const magnitude = Math.min(sample >= 0 ? sample : -sample - 1, 32767);
  const exponent = magnitude < 256 ? 0 : 24 - Math.clz32(magnitude);
  const mantissa = exponent === 0 ? magnitude >> 4 : (magnitude >> (exponent + 3)) & 0x0f;
  return (sign | (exponent << 4) | mantissa) ^ 0x55;
}

function makeCodec(
  name: G711Codec['name'],
  payloadType: number,
  decode: (octet: number) => number,
  encode: (sample: number) => number,
): G711Codec {
  const toLinear = Int16Array.from({ length: 256 }, (_, octet) => decode(octet));
  const fromLinear = Uint8Array.from({ length: 65536 }, (_, index) => encode((index << 16) >> 16));
  return {
    name,
    payloadType,
    rate: 8000,
    clockRate: 8000,
    bitRate: 64_000,
    silence: encode(0),
    toLinear,
    fromLinear,
  };
}

export const PCMU: G711Codec = makeCodec('PCMU', 0, decodeMuLaw, encodeMuLaw);
export const PCMA: G711Codec = makeCodec('PCMA', 8, decodeALaw, encodeALaw);

/** Whether a codec is one of the two. */
export function isG711(codec: Codec): codec is G711Codec {
  return codec === PCMU || codec === PCMA;
}

const muLawToALaw = Uint8Array.from(PCMU.toLinear, (sample) => PCMA.fromLinear[sample & 0xffff] as number);
const aLawToMuLaw = Uint8Array.from(PCMA.toLinear, (sample) => PCMU.fromLinear[sample & 0xffff] as number);

/** The octet-to-octet table between two codecs; undefined when they are the same. */
export function transcodingTable(from: G711Codec, to: G711Codec): Uint8Array | undefined {
  if (from === to) return undefined;
  return from === PCMU ? muLawToALaw : aLawToMuLaw;
}

const gainTables = new Map<string, Uint8Array>();

/** The octet-to-octet table that changes the level by steps of 3 dB; undefined for 0 steps. */
export function gainTable(codec: G711Codec, steps: number): Uint8Array | undefined {
  if (steps === 0) return undefined;
  const key = `${codec.name} ${steps}`;
  let table = gainTables.get(key);
  if (table === undefined) {
    const factor = 10 ** ((steps * 3) / 20);
    table = Uint8Array.from(codec.toLinear, (sample) => {
      const scaled = Math.max(-32_768, Math.min(32_767, Math.round(sample * factor)));
      return codec.fromLinear[scaled & 0xffff] as number;
    });
    gainTables.set(key, table);
  }
  return table;
}

/** Decodes `length` octets of `source` from `offset` into `target`; returns the number of samples written. */
export function decodeG711(
  codec: G711Codec,
  source: Uint8Array,
  offset: number,
  length: number,
  target: Int16Array,
): number {
  const table = codec.toLinear;
  const count = Math.min(length, target.length);
  for (let index = 0; index < count; index += 1) target[index] = table[source[offset + index] as number] as number;
  return count;
}

/** Encodes the first `count` samples of `source` into `target` from `offset`. */
export function encodeG711(
  codec: G711Codec,
  source: Int16Array,
  count: number,
  target: Uint8Array,
  offset: number,
): void {
  const table = codec.fromLinear;
  for (let index = 0; index < count; index += 1) {
    target[offset + index] = table[(source[index] as number) & 0xffff] as number;
  }
}
