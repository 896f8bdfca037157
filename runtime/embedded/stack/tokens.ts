/** Random identifiers: tags, branches, Call-IDs, CSeq numbers. */
import { randomFillSync, randomInt, randomUUID } from 'node:crypto';
import { MAGIC_COOKIE } from './via.ts';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const pool = Buffer.alloc(4096);
let used = pool.length;

/** Random token of `length` characters with 5 bits each (tags and branches need 32 bits, RFC 3261 section 19.3). */
export function token(length = 13): string {
  if (used + length > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  let text = '';
  for (let i = 0; i < length; i += 1) text += ALPHABET[(pool[used + i] as number) & 31];
  used += length;
  return text;
}

/** A new branch (section 8.1.1.7). */
export function newBranch(): string {
  return MAGIC_COOKIE + token();
}

/** A globally unique Call-ID (section 8.1.1.4). */
export function newCallId(): string {
  return randomUUID();
}

/** A first CSeq number: random, nine digits, well below 2**31 (section 8.1.1.5). */
export function initialCSeq(): number {
  return randomInt(100_000_000, 1_000_000_000);
}
