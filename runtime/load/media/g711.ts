/** G.711 (ITU-T G.711) by table. */

/** Payload types of RFC 3551. */
export const PCMU = 0;
export const PCMA = 8;

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

const TABLES: ReadonlyMap<number, Int16Array> = new Map([
  [PCMU, Int16Array.from({ length: 256 }, (_, code) => muLaw(code))],
  [PCMA, Int16Array.from({ length: 256 }, (_, code) => aLaw(code))],
]);

/** The sample of each octet; undefined for another payload type. */
export function decodingTable(payloadType: number): Int16Array | undefined {
  return TABLES.get(payloadType);
}

/** The nearest octet of each sample. */
export function encode(samples: readonly number[], payloadType: number): Buffer {
  const table = TABLES.get(payloadType) ?? new Int16Array(256);
  return Buffer.from(
    samples.map((sample) => {
      let best = 0;
      for (let code = 1; code < 256; code += 1) {
        if (Math.abs((table[code] as number) - sample) < Math.abs((table[best] as number) - sample)) best = code;
      }
      return best;
    }),
  );
}
