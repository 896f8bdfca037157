/** HEP version 3, the protocol of the capture server Homer. */
import { isIPv6 } from 'node:net';

export interface HepMessage {
  /** Milliseconds since the epoch, with fractions. */
  readonly time: number;
  readonly transport: string;
  /** `ip:port` or `[ip]:port`. */
  readonly from: string;
  readonly to: string;
  readonly text: string;
  /** The same for all messages of a call. */
  readonly correlation: string | undefined;
}

export interface HepAgent {
  /** Tells the sources of a capture server apart. */
  readonly id: number;
  /** Checked by the capture server, if it is set there. */
  readonly password: string;
}

/** Types of chunks of the vendor 0, generic. */
const CHUNK = {
  family: 0x01,
  protocol: 0x02,
  sourceV4: 0x03,
  targetV4: 0x04,
  sourceV6: 0x05,
  targetV6: 0x06,
  sourcePort: 0x07,
  targetPort: 0x08,
  seconds: 0x09,
  micros: 0x0a,
  payloadType: 0x0b,
  agent: 0x0c,
  password: 0x0e,
  payload: 0x0f,
  correlation: 0x11,
} as const;
const AF_INET = 2;
const AF_INET6 = 10;
const IP_UDP = 17;
const IP_TCP = 6;
const PAYLOAD_SIP = 1;

/** The packet of a SIP message; undefined for one that is too long. */
export function hepPacket(message: HepMessage, agent: HepAgent): Buffer | undefined {
  const { from, to } = ipEnds(message);
  const seconds = Math.floor(message.time / 1000);
  const micros = Math.floor((message.time - seconds * 1000) * 1000);
  const chunks = [
    chunk(CHUNK.family, uint(1, from.isV6 ? AF_INET6 : AF_INET)),
    chunk(CHUNK.protocol, uint(1, message.transport === 'udp' ? IP_UDP : IP_TCP)),
    chunk(from.isV6 ? CHUNK.sourceV6 : CHUNK.sourceV4, from.bytes),
    chunk(from.isV6 ? CHUNK.targetV6 : CHUNK.targetV4, to.bytes),
    chunk(CHUNK.sourcePort, uint(2, from.port)),
    chunk(CHUNK.targetPort, uint(2, to.port)),
    chunk(CHUNK.seconds, uint(4, seconds)),
    chunk(CHUNK.micros, uint(4, micros)),
    chunk(CHUNK.payloadType, uint(1, PAYLOAD_SIP)),
    chunk(CHUNK.agent, uint(4, agent.id)),
    ...(agent.password === '' ? [] : [chunk(CHUNK.password, Buffer.from(agent.password))]),
    ...(message.correlation === undefined ? [] : [chunk(CHUNK.correlation, Buffer.from(message.correlation))]),
    chunk(CHUNK.payload, Buffer.from(message.text)),
  ];
  const head = Buffer.from('HEP3\0\0', 'latin1');
  const length = chunks.reduce((sum, each) => sum + each.length, head.length);
  if (length > 0xff_ff) return undefined;
  head.writeUInt16BE(length, 4);
  return Buffer.concat([head, ...chunks], length);
}

function chunk(type: number, value: Buffer): Buffer {
  const head = Buffer.alloc(6);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(Math.min(6 + value.length, 0xff_ff), 4);
  return Buffer.concat([head, value]);
}

function uint(octets: number, value: number): Buffer {
  const bytes = Buffer.alloc(octets);
  bytes.writeUIntBE(value, 0, octets);
  return bytes;
}

/** An IP address as octets. */
export interface IpEnd {
  readonly isV6: boolean;
  readonly bytes: Buffer;
  readonly port: number;
}

/** The IP addresses of a message, of one family; 0.0.0.0 or :: for a name, as the address behind it is not known. */
export function ipEnds(message: { readonly from: string; readonly to: string }): { from: IpEnd; to: IpEnd } {
  const from = splitAddress(message.from);
  const to = splitAddress(message.to);
  const isV6 = (from ?? to)?.isV6 ?? false;
  const fallback = { isV6, bytes: Buffer.alloc(isV6 ? 16 : 4), port: 0 };
  const of = (end: IpEnd | undefined): IpEnd => (end?.isV6 === isV6 ? end : fallback);
  return { from: of(from), to: of(to) };
}

/** An `ip:port` as octets; undefined for anything else. */
function splitAddress(address: string): IpEnd | undefined {
  const [, v6, v4, port] = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+)):(\d+)$/.exec(address) ?? [];
  if (port === undefined) return undefined;
  if (v4 !== undefined) return { isV6: false, bytes: Buffer.from(v4.split('.').map(Number)), port: Number(port) };
  if (v6 === undefined || !isIPv6(v6)) return undefined;
  return { isV6: true, bytes: v6Bytes(v6), port: Number(port) };
}

function v6Bytes(address: string): Buffer {
  // The last 32 bits may be written as IPv4 (RFC 4291 section 2.2).
  const hex = address.replace(/%.*$/, '').replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_whole, ...parts: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = parts.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
  const [front = '', back] = hex.split('::');
  const words = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((word) => Number.parseInt(word, 16));
  const first = words(front);
  const last = words(back ?? '');
  const zeros = back === undefined ? 0 : 8 - first.length - last.length;
  const bytes = Buffer.alloc(16);
  for (const [at, word] of [...first, ...Array<number>(zeros).fill(0), ...last].entries())
    bytes.writeUInt16BE(word, at * 2);
  return bytes;
}
