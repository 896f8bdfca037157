/** STUN binding requests of ICE and their answers (RFC 8489, RFC 8445). */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

const HEADER_OCTETS = 20;
const MAGIC_COOKIE = 0x2112a442;
const BINDING_REQUEST = 0x0001;
const BINDING_SUCCESS = 0x0101;

const USERNAME = 0x0006;
const MESSAGE_INTEGRITY = 0x0008;
const XOR_MAPPED_ADDRESS = 0x0020;
const USE_CANDIDATE = 0x0025;
const FINGERPRINT = 0x8028;

/** XORed with the CRC of FINGERPRINT (RFC 8489 section 14.7). */
const FINGERPRINT_XOR = 0x5354554e;
const INTEGRITY_OCTETS = 20;
const FINGERPRINT_OCTETS = 4;

/** Longest request that is read. */
const MOST_OCTETS = 548;

/** A binding request. */
export interface BindingRequest {
  readonly transaction: Buffer;
  readonly username: string;
  /** Whether the far end wants this path (RFC 8445 section 7.2.5.3.4). */
  readonly nominates: boolean;
  /** Whether its MESSAGE-INTEGRITY was made with this password. */
  isBy(password: string): boolean;
}

/** Whether a datagram at a media port is STUN (RFC 7983). */
export function isStun(datagram: Buffer): boolean {
  return (datagram[0] as number) < 4;
}

/** Reads a binding request with USERNAME and MESSAGE-INTEGRITY; undefined for anything else. */
export function readBindingRequest(datagram: Buffer): BindingRequest | undefined {
  if (datagram.length < HEADER_OCTETS || datagram.length > MOST_OCTETS) return undefined;
  if (datagram.readUInt16BE(0) !== BINDING_REQUEST || datagram.readUInt32BE(4) !== MAGIC_COOKIE) return undefined;
  if (datagram.readUInt16BE(2) !== datagram.length - HEADER_OCTETS) return undefined;
  let username: string | undefined;
  let nominates = false;
  for (let at = HEADER_OCTETS; at + 4 <= datagram.length; ) {
    const type = datagram.readUInt16BE(at);
    const length = datagram.readUInt16BE(at + 2);
    const start = at + 4;
    if (start + length > datagram.length) return undefined;
    if (type === USERNAME) username = datagram.toString('utf8', start, start + length);
    else if (type === USE_CANDIDATE) nominates = true;
    else if (type === MESSAGE_INTEGRITY) {
      // What follows is not protected, apart from FINGERPRINT, which adds nothing to that.
      if (username === undefined || length !== INTEGRITY_OCTETS) return undefined;
      const integrity = datagram.subarray(start, start + length);
      const isBy = (password: string) => timingSafeEqual(integrity, integrityOf(datagram, at, password));
      return { transaction: datagram.subarray(8, HEADER_OCTETS), username, nominates, isBy };
    }
    at = start + Math.ceil(length / 4) * 4;
  }
  return undefined;
}

/** The answer to a binding request. */
export function bindingSuccess(
  { transaction }: BindingRequest,
  from: { readonly address: string; readonly port: number },
  password: string,
): Buffer {
  const mapped = xorMapped(transaction, from);
  const answer = Buffer.alloc(HEADER_OCTETS + 4 + mapped.length + 4 + INTEGRITY_OCTETS + 4 + FINGERPRINT_OCTETS);
  answer.writeUInt16BE(BINDING_SUCCESS, 0);
  answer.writeUInt32BE(MAGIC_COOKIE, 4);
  transaction.copy(answer, 8);
  let at = HEADER_OCTETS;
  at = attribute(answer, at, XOR_MAPPED_ADDRESS, mapped.length);
  mapped.copy(answer, at);
  at += mapped.length;
  const integrity = integrityOf(answer, at, password);
  integrity.copy(answer, attribute(answer, at, MESSAGE_INTEGRITY, INTEGRITY_OCTETS));
  at += 4 + INTEGRITY_OCTETS;
  answer.writeUInt16BE(answer.length - HEADER_OCTETS, 2);
  const value = attribute(answer, at, FINGERPRINT, FINGERPRINT_OCTETS);
  answer.writeUInt32BE((crc32(answer.subarray(0, at)) ^ FINGERPRINT_XOR) >>> 0, value);
  return answer;
}

/** Writes the head of an attribute; returns where its value starts. */
function attribute(message: Buffer, at: number, type: number, length: number): number {
  message.writeUInt16BE(type, at);
  return message.writeUInt16BE(length, at + 2);
}

/** MESSAGE-INTEGRITY at `at`: the length in the header is that of a message that ends with it (RFC 8489 section 14.5). */
function integrityOf(message: Buffer, at: number, password: string): Buffer {
  const covered = Buffer.from(message.subarray(0, at));
  covered.writeUInt16BE(at - HEADER_OCTETS + 4 + INTEGRITY_OCTETS, 2);
  return createHmac('sha1', password).update(covered).digest();
}

/** The value of XOR-MAPPED-ADDRESS (RFC 8489 section 14.2). */
function xorMapped(
  transaction: Buffer,
  { address, port }: { readonly address: string; readonly port: number },
): Buffer {
  const octets = octetsOf(address);
  const key = Buffer.alloc(4 + transaction.length);
  key.writeUInt32BE(MAGIC_COOKIE, 0);
  transaction.copy(key, 4);
  const value = Buffer.alloc(4 + octets.length);
  value.writeUInt16BE(octets.length === IPV6_OCTETS ? 2 : 1, 0);
  value.writeUInt16BE(port ^ (MAGIC_COOKIE >>> 16), 2);
  for (const [index, octet] of octets.entries()) value[4 + index] = octet ^ (key[index] as number);
  return value;
}

const IPV6_OCTETS = 16;

/** The octets of an IP address as the system writes it. */
function octetsOf(address: string): readonly number[] {
  if (!address.includes(':')) return address.split('.').map(Number);
  const [head = '', tail = ''] = (address.split('%')[0] as string).split('::');
  const [left, right] = [wordsOf(head), wordsOf(tail)];
  const middle = Array.from({ length: IPV6_OCTETS - left.length - right.length }, () => 0);
  return [...left, ...middle, ...right];
}

function wordsOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((word) => {
    const value = Number.parseInt(word, 16);
    return [value >> 8, value & 0xff];
  });
}
