/** A SIP message as the test phone reads and writes it (RFC 3261 section 7). Headers keep their order and their text. */
import { randomBytes } from 'node:crypto';

export interface SipHeader {
  readonly name: string;
  readonly value: string;
}

export interface SipRequest {
  readonly kind: 'request';
  readonly method: string;
  readonly uri: string;
  readonly headers: readonly SipHeader[];
  readonly body: string;
}

export interface SipResponse {
  readonly kind: 'response';
  readonly status: number;
  readonly reason: string;
  readonly headers: readonly SipHeader[];
  readonly body: string;
}

export type SipMessage = SipRequest | SipResponse;

/** The bytes are no SIP message. */
export class SipSyntaxError extends Error {
  override readonly name = 'SipSyntaxError';
}

/** Compact forms (RFC 3261 section 7.3.3 and the registry of later RFCs). */
const COMPACT: Readonly<Record<string, string>> = {
  v: 'via',
  f: 'from',
  t: 'to',
  i: 'call-id',
  m: 'contact',
  l: 'content-length',
  c: 'content-type',
  k: 'supported',
  e: 'content-encoding',
  s: 'subject',
  o: 'event',
  u: 'allow-events',
  r: 'refer-to',
  b: 'referred-by',
  x: 'session-expires',
};

function canonical(name: string): string {
  const lower = name.toLowerCase();
  return COMPACT[lower] ?? lower;
}

/** All values of a header, in order, not split at commas. */
export function headerLines(message: SipMessage, name: string): string[] {
  const wanted = canonical(name);
  return message.headers.filter((entry) => canonical(entry.name) === wanted).map((entry) => entry.value);
}

/** The first value of a header, or undefined. */
export function header(message: SipMessage, name: string): string | undefined {
  return headerLines(message, name)[0];
}

/** All values of a list header (Via, Contact, Route, Allow ...), split at top-level commas (RFC 3261 section 7.3.1). */
export function headerList(message: SipMessage, name: string): string[] {
  return headerLines(message, name).flatMap(splitAtCommas);
}

/** Splits at commas outside quotes and angle brackets. */
export function splitAtCommas(value: string): string[] {
  const parts: string[] = [];
  let quoted = false;
  let bracketed = false;
  let current = '';
  for (let at = 0; at < value.length; at += 1) {
    const char = value.charAt(at);
    if (quoted && char === '\\') {
      current += char + value.charAt((at += 1));
      continue;
    }
    if (char === '"') quoted = !quoted;
    else if (!quoted && char === '<') bracketed = true;
    else if (!quoted && char === '>') bracketed = false;
    if (char === ',' && !quoted && !bracketed) {
      parts.push(current.trim());
      current = '';
    } else current += char;
  }
  if (current.trim() !== '') parts.push(current.trim());
  return parts;
}

/** Writes a message; Content-Length is computed, replacing any given one. */
export function serialise(message: SipMessage): Buffer {
  const start =
    message.kind === 'request'
      ? `${message.method} ${message.uri} SIP/2.0`
      : `SIP/2.0 ${message.status} ${message.reason}`;
  const body = Buffer.from(message.body, 'utf8');
  const lines = message.headers
    .filter((entry) => canonical(entry.name) !== 'content-length')
    .map((entry) => `${entry.name}: ${entry.value}`);
  const head = [start, ...lines, `Content-Length: ${body.length}`, '', ''].join('\r\n');
  return Buffer.concat([Buffer.from(head, 'utf8'), body]);
}

const REQUEST_LINE = /^([A-Z][A-Z0-9_-]*) (\S+) SIP\/2\.0$/;
const STATUS_LINE = /^SIP\/2\.0 ([1-6]\d\d) (.*)$/;
const HEADER_LINE = /^([A-Za-z0-9.!%*_+`'~-]+)[ \t]*:[ \t]*(.*)$/;

/**
 * Reads one whole message. Lines end in CRLF, nothing else is accepted.
 * @throws SipSyntaxError
 */
export function parseMessage(data: Buffer): SipMessage {
  const end = data.indexOf('\r\n\r\n');
  if (end < 0) throw new SipSyntaxError('no empty line after the headers');
  const head = data.subarray(0, end).toString('utf8');
  if (/[^\r]\n/.test(head)) throw new SipSyntaxError('a line ends in a bare LF');
  const [start = '', ...rest] = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  const headers = rest.map((line) => {
    const match = HEADER_LINE.exec(line);
    if (match === null) throw new SipSyntaxError(`malformed header line: ${line}`);
    return { name: match[1] ?? '', value: (match[2] ?? '').trim() };
  });
  const body = data.subarray(end + 4);
  const length = headers.find((entry) => canonical(entry.name) === 'content-length')?.value;
  if (length !== undefined && !/^\d+$/.test(length)) throw new SipSyntaxError(`Content-Length is no number: ${length}`);
  const size = length === undefined ? body.length : Number(length);
  if (size > body.length) throw new SipSyntaxError(`Content-Length ${size}, but only ${body.length} bytes of body`);
  const text = body.subarray(0, size).toString('utf8');
  const status = STATUS_LINE.exec(start);
  if (status !== null) {
    return { kind: 'response', status: Number(status[1]), reason: status[2] ?? '', headers, body: text };
  }
  const request = REQUEST_LINE.exec(start);
  if (request === null) throw new SipSyntaxError(`malformed start line: ${start}`);
  return { kind: 'request', method: request[1] ?? '', uri: request[2] ?? '', headers, body: text };
}

/** The start line, for traces and error texts. */
export function startLine(message: SipMessage): string {
  return message.kind === 'request' ? `${message.method} ${message.uri}` : `${message.status} ${message.reason}`;
}

/** A random token for tags, branches and Call-IDs. */
export function token(bytes = 8): string {
  return randomBytes(bytes).toString('hex');
}
