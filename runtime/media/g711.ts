/** Converts G.711 (ITU-T G.711) to linear 16-bit samples, by table. */

function muLaw(code: number): number {
  const value = ~code & 0xff;
  const magnitude = (((value & 0x0f) << 3) + 0x84) << ((value & 0x70) >> 4);
  return (value & 0x80) === 0 ? magnitude - 0x84 : 0x84 - magnitude;
}

function aLaw(code: number): number {
  const value = code ^ 0x55;
  const segment = (value & 0x70) >> 4;
  const low = ((value & 0x0f) << 4) + 8;
  const magnitude = segment === 0 ? low : (low + 0x100) << (segment - 1);
  return (value & 0x80) === 0 ? -magnitude : magnitude;
}

const MU_LAW = Int16Array.from({ length: 256 }, (_, code) => muLaw(code));
const A_LAW = Int16Array.from({ length: 256 }, (_, code) => aLaw(code));

export type G711 = 'PCMU' | 'PCMA';

/** One sample per octet. */
export function decodeG711(octets: Uint8Array, law: G711): Int16Array {
  const table = law === 'PCMU' ? MU_LAW : A_LAW;
  const samples = new Int16Array(octets.length);
  for (let index = 0; index < octets.length; index += 1) samples[index] = table[octets[index] as number] as number;
  return samples;
}
