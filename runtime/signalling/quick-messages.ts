/** Reads the SIP messages of drachtio-srf in less time than the library. */
import parser, { type ParsedMessage } from 'drachtio-srf/lib/sip-parser/parser.js';
import SipMessage from 'drachtio-srf/lib/sip-parser/message.js';

const { parseSipMessage: readByLibrary, getHeaderName: nameByLibrary } = parser;
const RESPONSE = /^SIP\/(\d+\.\d+)\s+(\d+)\s*(.*)\s*$/;
/** A method without percent signs, which the library decodes. */
const REQUEST = /^([A-Z]+)\s([^\s]+)\sSIP\s*\/\s*(\d+\.\d+)/;
const HEADER_NAME = /^[A-Za-z][A-Za-z0-9-]*$/;
/** Names of headers to remember: phones may send any. */
const MOST_NAMES = 500;

const TAB = 9;
const BLANK = 32;
const LAST_ASCII = 126;

/** The library's name of each header that has come. */
const names = new Map<string, string>();

/**
 * Replaces what drachtio-srf does for each message and each look at a header. For each header it runs a regular expression and asks
 * the environment how to write its name. To find one it makes a list of all names. Messages of an unusual form are left to it.
 */
export function readMessagesQuickly(): void {
  // The library reads it for each header.
  if (process.env['DRACHTIO_PRESERVE_HEADER_NAMES'] !== undefined) return;
  parser.getHeaderName = (name) => names.get(name) ?? named(name);
  parser.parseSipMessage = (text, lazy) => (lazy ? readMessage(text) : undefined) ?? readByLibrary(text, lazy);
  SipMessage.prototype.getHeaderName = function keyOf(name) {
    const { headers } = this;
    const wanted = name.toLowerCase();
    const isOwn = wanted.startsWith('x-') || wanted.startsWith('p-');
    if (!isOwn && Object.hasOwn(headers, wanted)) return wanted;
    for (const key of Object.keys(headers))
      if (key.length === wanted.length && key.toLowerCase() === wanted) return key;
    return undefined;
  };
}

function named(name: string): string {
  const own = nameByLibrary(name);
  if (names.size < MOST_NAMES && HEADER_NAME.test(name) && typeof own === 'string') names.set(name, own);
  return own;
}

/** Undefined for a message that the library has to read: folded lines, several parts, no length, mistakes. */
function readMessage(text: string): ParsedMessage | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const first = text.indexOf('\r\n');
  const message = readFirstLine(text.slice(0, first));
  if (message === undefined) return undefined;
  const { headers } = message;
  for (let from = first + 2; from < end; ) {
    const lineEnd = text.indexOf('\r\n', from);
    const colon = text.indexOf(':', from);
    if (colon === -1 || colon > lineEnd) return undefined;
    const name = names.get(text.slice(from, colon)) ?? newName(text.slice(from, colon));
    if (name === undefined) return undefined;
    let begin = colon + 1;
    while (isBlank(text, begin)) begin += 1;
    // Other white space, which the library skips too.
    const code = text.charCodeAt(begin);
    if (begin < lineEnd && (code < BLANK || code > LAST_ASCII)) return undefined;
    const value = text.slice(Math.min(begin, lineEnd), lineEnd);
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before},${value}`;
    from = lineEnd + 2;
    // The value goes on in the next line.
    if (isBlank(text, from)) return undefined;
  }
  const type = headers['content-type'];
  const length = headers['content-length'];
  if (length === undefined || length === '' || type?.includes('multipart/')) return undefined;
  const rest = text.slice(end + 4);
  const body = rest === '' ? '' : rest.slice(0, Math.max(0, Math.min(Number(length), Buffer.byteLength(rest))) || 0);
  message.body = body;
  message.payload = [{ type, content: body }];
  return message;
}

function readFirstLine(line: string): ParsedMessage | undefined {
  const response = RESPONSE.exec(line);
  if (response) {
    const [, version = '', status, reason = ''] = response;
    return { version, status: Number(status), reason, headers: {}, payload: [] };
  }
  const [, method, uri = '', version = ''] = REQUEST.exec(line) ?? [];
  return method === undefined ? undefined : { method, uri, version, headers: {}, payload: [] };
}

function newName(name: string): string | undefined {
  if (!HEADER_NAME.test(name)) return undefined;
  const own = named(name);
  // `constructor` is no text there.
  return typeof own === 'string' ? own : undefined;
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === BLANK || code === TAB;
}
