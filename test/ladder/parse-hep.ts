/** A parser of HEP 3, written from the specification (hep.sipcapture.org) and not from the sender. */

export interface Hep {
  readonly family: number;
  readonly protocol: number;
  readonly from: string;
  readonly to: string;
  readonly seconds: number;
  readonly micros: number;
  readonly type: number;
  readonly agent: number;
  readonly password?: string;
  readonly correlation?: string;
  readonly text: string;
}

/** @throws Error for a packet that is not well-formed */
export function parseHep(packet: Buffer): Hep {
  if (packet.toString('latin1', 0, 4) !== 'HEP3') throw new Error('no HEP 3');
  if (packet.readUInt16BE(4) !== packet.length) throw new Error('wrong length of the packet');
  const chunks = new Map<number, Buffer>();
  for (let at = 6; at < packet.length; ) {
    const vendor = packet.readUInt16BE(at);
    const type = packet.readUInt16BE(at + 2);
    const length = packet.readUInt16BE(at + 4);
    if (vendor !== 0 || length < 6 || at + length > packet.length) throw new Error(`wrong chunk at ${at}`);
    chunks.set(type, packet.subarray(at + 6, at + length));
    at += length;
  }
  const of = (type: number, octets?: number): Buffer => {
    const chunk = chunks.get(type);
    if (chunk === undefined || (octets !== undefined && chunk.length !== octets)) throw new Error(`chunk ${type}`);
    return chunk;
  };
  const family = of(1, 1).readUInt8();
  const address = (v4: number, v6: number, port: number): string =>
    family === 2
      ? `${[...of(v4, 4)].join('.')}:${of(port, 2).readUInt16BE()}`
      : `[${Array.from({ length: 8 }, (_, word) =>
          of(v6, 16)
            .readUInt16BE(word * 2)
            .toString(16),
        ).join(':')}]:${of(port, 2).readUInt16BE()}`;
  return {
    family,
    protocol: of(2, 1).readUInt8(),
    from: address(3, 5, 7),
    to: address(4, 6, 8),
    seconds: of(9, 4).readUInt32BE(),
    micros: of(10, 4).readUInt32BE(),
    type: of(11, 1).readUInt8(),
    agent: of(12, 4).readUInt32BE(),
    ...(chunks.has(14) && { password: of(14).toString() }),
    ...(chunks.has(17) && { correlation: of(17).toString() }),
    text: of(15).toString(),
  };
}
