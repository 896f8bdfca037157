/** A ladder as a capture file for Wireshark, tshark or sngrep. */
import { type IpEnd, ipEnds, type LadderMessage, type LadderView } from '../../ladder/index.ts';

/** Packets begin with their IP header (LINKTYPE_RAW). */
const LINK_RAW = 101;
const MAX_PACKET = 262_144;
const PROTOCOL_UDP = 17;
const TTL = 64;
/** Longest text of a UDP packet over IPv4, in octets. */
const MAX_TEXT = 65_507;

/**
 * The messages that were on the wire as UDP packets with their real addresses, ports and times; also those over TCP or TLS, whose
 * segments are not known.
 */
export function ladderPcap({ messages }: LadderView): Buffer {
  const head = Buffer.alloc(24);
  head.writeUInt32LE(0xa1_b2_c3_d4, 0);
  head.writeUInt16LE(2, 4);
  head.writeUInt16LE(4, 6);
  head.writeUInt32LE(MAX_PACKET, 16);
  head.writeUInt32LE(LINK_RAW, 20);
  return Buffer.concat([head, ...messages.filter(({ wire }) => wire).map(packetOf)]);
}

function packetOf(message: LadderMessage): Buffer {
  const { from, to } = ipEnds(message);
  const text = Buffer.from(message.text).subarray(0, MAX_TEXT);
  const udp = udpPacket(from, to, text);
  const ip = from.isV6 ? v6Head(from.bytes, to.bytes, udp.length) : v4Head(from.bytes, to.bytes, udp.length);
  const record = Buffer.alloc(16);
  const length = ip.length + udp.length;
  record.writeUInt32LE(Math.floor(Date.parse(message.time) / 1000), 0);
  record.writeUInt32LE(Number(/\.(\d{6})Z$/.exec(message.time)?.[1] ?? 0), 4);
  record.writeUInt32LE(length, 8);
  record.writeUInt32LE(length, 12);
  return Buffer.concat([record, ip, udp]);
}

function udpPacket(from: IpEnd, to: IpEnd, text: Buffer): Buffer {
  const head = Buffer.alloc(8);
  const length = head.length + text.length;
  head.writeUInt16BE(from.port, 0);
  head.writeUInt16BE(to.port, 2);
  head.writeUInt16BE(length, 4);
  const pseudo = Buffer.alloc(8);
  pseudo.writeUInt32BE(length, 0);
  pseudo.writeUInt32BE(PROTOCOL_UDP, 4);
  const sum = checksum(Buffer.concat([from.bytes, to.bytes, pseudo, head, text]));
  // Zero means "no checksum" (RFC 768).
  head.writeUInt16BE(sum === 0 ? 0xff_ff : sum, 6);
  return Buffer.concat([head, text]);
}

function v4Head(from: Buffer, to: Buffer, length: number): Buffer {
  const head = Buffer.alloc(20);
  head.writeUInt8(0x45, 0);
  head.writeUInt16BE(20 + length, 2);
  head.writeUInt8(TTL, 8);
  head.writeUInt8(PROTOCOL_UDP, 9);
  from.copy(head, 12);
  to.copy(head, 16);
  head.writeUInt16BE(checksum(head), 10);
  return head;
}

function v6Head(from: Buffer, to: Buffer, length: number): Buffer {
  const head = Buffer.alloc(40);
  head.writeUInt8(0x60, 0);
  head.writeUInt16BE(length, 4);
  head.writeUInt8(PROTOCOL_UDP, 6);
  head.writeUInt8(TTL, 7);
  from.copy(head, 8);
  to.copy(head, 24);
  return head;
}

/** The Internet checksum (RFC 1071). */
function checksum(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at + 1 < bytes.length; at += 2) sum += bytes.readUInt16BE(at);
  if (bytes.length % 2 === 1) sum += (bytes.at(-1) ?? 0) << 8;
  while (sum > 0xff_ff) sum = (sum & 0xff_ff) + Math.floor(sum / 0x1_00_00);
  return ~sum & 0xff_ff;
}
