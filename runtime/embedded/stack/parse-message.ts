/** Parses SIP messages. */
import { SipParseError } from './errors.ts';
import { headerKey } from './header-names.ts';
import { SipRequest, SipResponse } from './message.ts';
import { RejectedMessageError } from './rejected-message.ts';
import { decimal } from './scan.ts';

/** Limits that keep a hostile peer from exhausting memory. */
export interface ParseLimits {
  /** Start line and headers, bytes. */
  readonly maxHeadBytes: number;
  /** Whole message, bytes. */
  readonly maxMessageBytes: number;
  /** Number of header fields. */
  readonly maxHeaders: number;
}

export const DEFAULT_LIMITS: ParseLimits = { maxHeadBytes: 32_768, maxMessageBytes: 262_144, maxHeaders: 256 };

const CR = 13;
const LF = 10;
const NO_BODY = Buffer.alloc(0);

/** Position of the empty line between headers and body. */
export interface HeadEnd {
  /** Index after the last header's line break. */
  readonly head: number;
  /** Index of the first body byte. */
  readonly body: number;
}

/** Finds the empty line from index `from` on. LF LF, which some senders use in place of CRLF CRLF, counts too. */
export function findHeadEnd(buffer: Buffer, from: number): HeadEnd | undefined {
  for (let at = buffer.indexOf(LF, from); at >= 0; at = buffer.indexOf(LF, at + 1)) {
    if (buffer[at + 1] === LF) return { head: at + 1, body: at + 2 };
    if (buffer[at + 1] === CR && buffer[at + 2] === LF) return { head: at + 1, body: at + 3 };
  }
  return undefined;
}

/** Skips the line breaks that may precede a message (RFC 3261 section 7.5). */
export function skipLineBreaks(buffer: Buffer, from: number): number {
  let at = from;
  while (at < buffer.length && (buffer[at] === CR || buffer[at] === LF)) at += 1;
  return at;
}

/**
 * Reads the message of one datagram. Bytes beyond Content-Length are dropped; without Content-Length the body reaches
 * to the end (RFC 3261 section 18.3). Mandatory headers are not checked here.
 * @throws SipParseError when the message is malformed, exceeds the limits, or is shorter than Content-Length.
 */
export function parseMessage(buffer: Buffer, limits: ParseLimits = DEFAULT_LIMITS): SipRequest | SipResponse {
  if (buffer.length > limits.maxMessageBytes) {
    throw new SipParseError('message', `${buffer.length} bytes`, `at most ${limits.maxMessageBytes} bytes`);
  }
  const start = skipLineBreaks(buffer, 0);
  const end = findHeadEnd(buffer, start);
  if (end === undefined)
    throw new SipParseError('message', buffer.toString('latin1', start, start + 80), 'an empty line');
  const message = parseHead(buffer, start, end.head, limits);
  message.wireSize = buffer.length;
  const length = contentLength(message);
  if (length === undefined) message.body = buffer.subarray(end.body);
  else if (end.body + length > buffer.length) {
    throw new RejectedMessageError(
      'Content-Length',
      String(length),
      `at most the ${buffer.length - end.body} received bytes`,
      message,
    );
  } else message.body = length === 0 ? NO_BODY : buffer.subarray(end.body, end.body + length);
  return message;
}

/**
 * Value of Content-Length, or `undefined` when absent.
 * @throws SipParseError when it is not a number, or occurs twice with different values.
 */
export function contentLength(message: SipRequest | SipResponse): number | undefined {
  let length: number | undefined;
  for (const field of message.headers) {
    if (field.key !== 'content-length') continue;
    const value = decimal(field.value, 2 ** 31);
    if (value === undefined) throw new RejectedMessageError('Content-Length', field.value, 'a number', message);
    if (length !== undefined && length !== value) {
      throw new RejectedMessageError('Content-Length', field.value, `the same value as before (${length})`, message);
    }
    length = value;
  }
  return length;
}

/**
 * Reads start line and headers from `buffer[start, end)`.
 * @throws SipParseError on a malformed start line or header line, or beyond the limits.
 */
export function parseHead(buffer: Buffer, start: number, end: number, limits: ParseLimits): SipRequest | SipResponse {
  if (end - start > limits.maxHeadBytes) {
    throw new SipParseError('message', `${end - start} bytes of headers`, `at most ${limits.maxHeadBytes}`);
  }
  const text = buffer.toString('latin1', start, end);
  let lineEnd = text.indexOf('\n');
  if (lineEnd < 0) lineEnd = text.length;
  const message = parseStartLine(text.slice(0, beforeBreak(text, 0, lineEnd)));
  let at = lineEnd + 1;
  while (at < text.length) {
    let next = text.indexOf('\n', at);
    if (next < 0) next = text.length;
    let folded = false;
    // A line that starts with a blank continues the one before (section 7.3.1).
    while (next + 1 < text.length && (text[next + 1] === ' ' || text[next + 1] === '\t')) {
      folded = true;
      const further = text.indexOf('\n', next + 1);
      next = further < 0 ? text.length : further;
    }
    addHeader(message, text, at, beforeBreak(text, at, next), folded);
    if (message.headers.length > limits.maxHeaders) {
      const most = `at most ${limits.maxHeaders}`;
      throw new RejectedMessageError('message', `more than ${limits.maxHeaders} headers`, most, message);
    }
    at = next + 1;
  }
  return message;
}

function beforeBreak(text: string, start: number, end: number): number {
  return end > start && text.charCodeAt(end - 1) === CR ? end - 1 : end;
}

function addHeader(message: SipRequest | SipResponse, text: string, start: number, end: number, folded: boolean): void {
  const colon = text.indexOf(':', start);
  if (colon < 0 || colon >= end) throw new SipParseError('header', text.slice(start, end), 'name: value');
  let nameEnd = colon;
  while (nameEnd > start && (text[nameEnd - 1] === ' ' || text[nameEnd - 1] === '\t')) nameEnd -= 1;
  const name = text.slice(start, nameEnd);
  if (!isToken(name)) throw new SipParseError('header', text.slice(start, end), 'a header name');
  const raw = text.slice(start, end);
  const value = text.slice(colon + 1, end).trim();
  message.headers.push({ name, key: headerKey(name), value: folded ? value.replace(/\r?\n[ \t]+/g, ' ') : value, raw });
}

function parseStartLine(line: string): SipRequest | SipResponse {
  if (line.startsWith('SIP/')) return parseStatusLine(line);
  const space = line.indexOf(' ');
  const lastSpace = line.lastIndexOf(' ');
  if (space <= 0 || lastSpace <= space) throw new SipParseError('start-line', line, 'METHOD URI SIP/2.0');
  const method = line.slice(0, space);
  const uri = line.slice(space + 1, lastSpace);
  if (line.slice(lastSpace + 1).toUpperCase() !== 'SIP/2.0')
    throw new SipParseError('start-line', line, 'SIP/2.0 at its end');
  if (!isToken(method)) throw new SipParseError('start-line', line, 'a method');
  // A blank, a bracket or a control character in the request-URI cannot be repaired (RFC 4475 sections 3.1.2.7-10).
  if (!isUriText(uri)) throw new SipParseError('start-line', line, 'a URI without blanks or brackets');
  return new SipRequest(method, uri);
}

function parseStatusLine(line: string): SipResponse {
  const status = decimal(line.slice(8, 11), 999);
  if (!line.toUpperCase().startsWith('SIP/2.0 ') || status === undefined || status < 100 || status > 699) {
    throw new SipParseError('start-line', line, 'SIP/2.0 and a status from 100 to 699');
  }
  if (line.length > 11 && line[11] !== ' ') throw new SipParseError('start-line', line, 'a blank after the status');
  return new SipResponse(status, line.slice(12));
}

function isUriText(uri: string): boolean {
  if (uri.indexOf(':') <= 0) return false;
  for (let i = 0; i < uri.length; i += 1) {
    const c = uri.charCodeAt(i);
    if (c <= 32 || c === 127 || c === 60 || c === 62 || c === 34) return false;
  }
  return true;
}

/** Whether the text is a token (RFC 3261 section 25.1): header names, methods. */
export function isToken(text: string): boolean {
  if (text.length === 0 || text.length > 128) return false;
  for (let i = 0; i < text.length; i += 1) {
    const c = text.charCodeAt(i);
    const alnum = (c >= 48 && c <= 57) || (c >= 65 && c <= 90) || (c >= 97 && c <= 122);
    // - . ! % * _ + ` ' ~
    if (!alnum && !"-.!%*_+`'~".includes(text[i] as string)) return false;
  }
  return true;
}
