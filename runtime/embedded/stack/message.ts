/** SIP messages. */
import { SipParseError } from './errors.ts';
import { canonicalName, headerKey, isListHeader } from './header-names.ts';
import { tagOf } from './name-addr.ts';
import { decimal, splitOutside } from './scan.ts';
import type { Source } from './transport.ts';
import { parseVia, type Via } from './via.ts';

/**
 * One header field. Text is kept as latin1, one character a byte, so that a message is forwarded unchanged in any
 * encoding. Use {@link utf8} to show it, and {@link bytes} to put UTF-8 text in.
 */
export interface HeaderField {
  /** As written. */
  readonly name: string;
  /** Long form, lower case. */
  readonly key: string;
  /** Unfolded and trimmed. */
  readonly value: string;
  /** The whole line as received (folding kept, without the final CRLF); `undefined` for a header added here. */
  readonly raw: string | undefined;
}

/** CSeq's number and method. */
export interface CSeq {
  readonly number: number;
  readonly method: string;
}

const EMPTY = Buffer.alloc(0);

/** Encodes text for a header or start line of a message built here. */
export function bytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** Decodes a header's bytes as UTF-8, to show them. */
export function utf8(text: string): string {
  return Buffer.from(text, 'latin1').toString('utf8');
}

/** Copies a substring, so that it does not keep the longer text in memory. */
export function copyOf(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** Common base of requests and responses: headers in order, and a body. */
export abstract class SipMessage {
  readonly headers: HeaderField[] = [];
  body: Buffer = EMPTY;
  /** Bytes on the wire as received; 0 for a message built here. */
  wireSize = 0;
  /** Where it came from; `undefined` for a message built here. */
  source: Source | undefined;
  #cseq: CSeq | undefined;
  #via: Via | undefined;

  /** Request line or status line, without CRLF. */
  abstract startLine(): string;

  /** Value of the first header of that name (any case, compact or not). */
  header(name: string): string | undefined {
    const key = headerKey(name);
    for (const field of this.headers) if (field.key === key) return field.value;
    return undefined;
  }

  has(name: string): boolean {
    return this.header(name) !== undefined;
  }

  /** All values of a header, in order; comma-separated lists are split where the grammar allows lists. */
  values(name: string): string[] {
    const key = headerKey(name);
    const list = isListHeader(key);
    const values: string[] = [];
    for (const field of this.headers) {
      if (field.key !== key) continue;
      if (list) values.push(...splitOutside(field.value, ','));
      else values.push(field.value);
    }
    return values;
  }

  /** Appends a header. */
  add(name: string, value: string): this {
    const key = headerKey(name);
    this.#forget(key);
    this.headers.push({ name, key, value, raw: undefined });
    return this;
  }

  /** Adds a header before all others (a Via, a Record-Route). */
  prepend(name: string, value: string): this {
    const key = headerKey(name);
    this.#forget(key);
    this.headers.unshift({ name, key, value, raw: undefined });
    return this;
  }

  /** Sets a header: replaces the first of that name and removes the others, or appends a new one. */
  set(name: string, value: string): this {
    const key = headerKey(name);
    const at = this.headers.findIndex((field) => field.key === key);
    if (at < 0) return this.add(name, value);
    this.#forget(key);
    this.headers[at] = { name: canonicalName(key) ?? name, key, value, raw: undefined };
    for (let i = this.headers.length - 1; i > at; i -= 1) if (this.headers[i]?.key === key) this.headers.splice(i, 1);
    return this;
  }

  /** Replaces only the first header of that name (the top Via), and keeps the others. */
  setFirst(name: string, value: string): this {
    const key = headerKey(name);
    const at = this.headers.findIndex((field) => field.key === key);
    if (at < 0) return this.add(name, value);
    this.#forget(key);
    this.headers[at] = { name: canonicalName(key) ?? name, key, value, raw: undefined };
    return this;
  }

  /** Removes every header of that name. */
  delete(name: string): this {
    const key = headerKey(name);
    this.#forget(key);
    for (let i = this.headers.length - 1; i >= 0; i -= 1) if (this.headers[i]?.key === key) this.headers.splice(i, 1);
    return this;
  }

  /** Removes and returns the first value of a list header (the top Via or Route). */
  shift(name: string): string | undefined {
    const key = headerKey(name);
    const at = this.headers.findIndex((field) => field.key === key);
    const field = this.headers[at];
    if (field === undefined) return undefined;
    this.#forget(key);
    const [first, ...rest] = splitOutside(field.value, ',');
    if (rest.length === 0) this.headers.splice(at, 1);
    else this.headers[at] = { name: field.name, key, value: rest.join(', '), raw: undefined };
    return first;
  }

  /** Drops headers and body, to free their memory. */
  freeMemory(): void {
    this.headers.length = 0;
    this.body = EMPTY;
    this.#cseq = undefined;
    this.#via = undefined;
  }

  /**
   * Drops the body and all headers but the named ones. Their values are copied, since a substring keeps the whole
   * message in memory.
   * @param keys long names in lower case
   */
  keepOnly(keys: ReadonlySet<string>): void {
    const kept = this.headers.filter(({ key }) => keys.has(key));
    this.headers.length = 0;
    for (const { name, key, value } of kept) this.headers.push({ name, key, value: copyOf(value), raw: undefined });
    this.body = EMPTY;
    this.#cseq = undefined;
    this.#via = undefined;
  }

  #forget(key: string): void {
    if (key === 'cseq') this.#cseq = undefined;
    else if (key === 'via') this.#via = undefined;
  }

  get callId(): string {
    return this.header('call-id') ?? '';
  }

  /** Tag of From, or `undefined`. */
  get fromTag(): string | undefined {
    return tagOf(this.header('from') ?? '');
  }

  /** Tag of To, or `undefined`. */
  get toTag(): string | undefined {
    return tagOf(this.header('to') ?? '');
  }

  /** @throws SipParseError when CSeq is missing or malformed (section 20.16). */
  get cseq(): CSeq {
    this.#cseq ??= parseCSeq(this.header('cseq') ?? '');
    return this.#cseq;
  }

  /** The topmost Via. @throws SipParseError when Via is missing or malformed (section 20.42). */
  get topVia(): Via {
    this.#via ??= parseVia(firstOf(this.header('via') ?? ''));
    return this.#via;
  }

  /**
   * The message's text up to and including the empty line, with Content-Length corrected to the body.
   * @param add whether to add a missing Content-Length; false for a message that is only shown.
   */
  head(add = true): string {
    let text = `${this.startLine()}\r\n`;
    let length = false;
    for (const field of this.headers) {
      if (field.key === 'content-length') {
        if (length) continue;
        length = true;
        if (Number(field.value) !== this.body.length || field.raw === undefined) {
          text += `Content-Length: ${this.body.length}\r\n`;
          continue;
        }
      }
      text += field.raw === undefined ? `${field.name}: ${field.value}\r\n` : `${field.raw}\r\n`;
    }
    if (!length && add) text += `Content-Length: ${this.body.length}\r\n`;
    return `${text}\r\n`;
  }

  /** The message as it goes on the wire. */
  toBuffer(): Buffer {
    const head = this.head();
    if (this.body.length === 0) return Buffer.from(head, 'latin1');
    const buffer = Buffer.allocUnsafe(head.length + this.body.length);
    buffer.write(head, 0, 'latin1');
    this.body.copy(buffer, head.length);
    return buffer;
  }
}

export class SipRequest extends SipMessage {
  readonly kind = 'request';
  method: string;
  uri: string;

  constructor(method: string, uri: string) {
    super();
    this.method = method;
    this.uri = uri;
  }

  override startLine(): string {
    return `${this.method} ${this.uri} SIP/2.0`;
  }

  override freeMemory(): void {
    super.freeMemory();
    this.uri = '';
  }

  override keepOnly(keys: ReadonlySet<string>): void {
    super.keepOnly(keys);
    this.uri = copyOf(this.uri);
  }
}

export class SipResponse extends SipMessage {
  readonly kind = 'response';
  status: number;
  reason: string;

  constructor(status: number, reason: string) {
    super();
    this.status = status;
    this.reason = reason;
  }

  override startLine(): string {
    return `SIP/2.0 ${this.status} ${this.reason}`;
  }
}

function firstOf(value: string): string {
  return value.includes(',') ? (splitOutside(value, ',')[0] ?? '') : value;
}

function parseCSeq(value: string): CSeq {
  let space = 0;
  while (space < value.length && value[space] !== ' ' && value[space] !== '\t') space += 1;
  // Leading zeroes are allowed (RFC 4475 section 3.1.1.1); the number must be below 2**31 (section 8.1.1.5).
  const number = decimal(value.slice(0, space), 2 ** 32 - 1);
  const method = value.slice(space).trim();
  if (number === undefined || method === '') throw new SipParseError('CSeq', value, 'a number and a method');
  return { number, method };
}
