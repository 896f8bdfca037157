/** G.711 at 8 kHz (ITU-T G.711): 16 bit linear samples to and from mu-law (PCMU) and A-law (PCMA). */

export type G711 = 'PCMU' | 'PCMA';

const BIAS = 0x84;
const CLIP = 32635;

function decodeMuLaw(byte: number): number {
  const value = ~byte & 0xff;
  const magnitude = ((((value & 0x0f) << 3) + BIAS) << ((value & 0x70) >> 4)) - BIAS;
  return (value & 0x80) !== 0 ? -magnitude : magnitude;
}

function encodeMuLaw(sample: number): number {
  const magnitude = Math.min(Math.abs(sample), CLIP) + BIAS;
  const exponent = 31 - Math.clz32(magnitude) - 7;
  const mantissa = (magnitude >> (exponent + 3)) & 0x0f;
  return ~((sample < 0 ? 0x80 : 0) | (exponent << 4) | mantissa) & 0xff;
}

function decodeALaw(byte: number): number {
  const value = byte ^ 0x55;
  const exponent = (value & 0x70) >> 4;
  const mantissa = (value & 0x0f) << 4;
  const magnitude = exponent === 0 ? mantissa + 8 : (mantissa + 0x108) << (exponent - 1);
  return (value & 0x80) !== 0 ? magnitude : -magnitude;
}

function encodeALaw(sample: number): number {
  const sign = sample >= 0 ? 0x80 : 0;
  const magnitude = Math.min(sample >= 0 ? sample : -sample - 1, 32767);
  const exponent = magnitude < 256 ? 0 : 31 - Math.clz32(magnitude) - 7;
  const mantissa = (magnitude >> (exponent === 0 ? 4 : exponent + 3)) & 0x0f;
  return (sign | (exponent << 4) | mantissa) ^ 0x55;
}

const DECODE = {
  PCMU: Int16Array.from({ length: 256 }, (_, byte) => decodeMuLaw(byte)),
  PCMA: Int16Array.from({ length: 256 }, (_, byte) => decodeALaw(byte)),
};

export function decode(codec: G711, payload: Uint8Array): Int16Array {
  const table = DECODE[codec];
  return Int16Array.from(payload, (byte) => table[byte] ?? 0);
}

export function encode(codec: G711, samples: Int16Array): Buffer {
  return Buffer.from(Uint8Array.from(samples, codec === 'PCMU' ? encodeMuLaw : encodeALaw));
}
