/** Parses and checks heads of HTTP requests. */
import { CUSTOM_METHOD, NATIVE_METHODS, suffixedTarget } from './methods.ts';
import { Refusal } from './refusal.ts';

/** How the end of a message body is found (RFC 9112 section 6). */
export type BodyFraming =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' };

export interface RequestHead {
  /** The method and target as the caller wrote them. */
  readonly method: string;
  readonly target: string;
  /** The rewritten head; undefined when it stays unchanged. */
  readonly rewritten: string | undefined;
  readonly body: BodyFraming;
  /** Nothing that follows on the connection belongs to another request. */
  readonly last: boolean;
  /** The caller asks for a WebSocket (RFC 6455 section 4.1). */
  readonly upgrade: boolean;
}

const MAX_HEADERS = 100;
const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([\x21-\x7e]+) HTTP\/(\d\.\d)$/;
/** Names end at the colon, values hold no control character, no line is folded (RFC 9112 section 5). */
const HEADER_LINES = /^(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)*$/;
const CONTENT_LENGTH = /^\d{1,15}$/;
/** Overlaps the line end before it, so that consecutive lines match one by one. */
const UPGRADE_LINE = /\r\n(?:upgrade:[^\r]*\r\n)+/gi;
const HOST = /^[A-Za-z0-9\-._~%!$&'()*+,;=:[\]]*$/;

const malformed = (message: string) => new Refusal('malformed', message);

const FRAMING_FIELDS = ['host', 'connection', 'upgrade', 'expect', 'content-length', 'transfer-encoding'] as const;
/** Values of the header fields that decide about framing, by lower-case name. */
type FramingFields = Record<(typeof FRAMING_FIELDS)[number], string[]>;

/**
 * Reads the head of a request. It accepts a subset of Node's parser: only heads that every parser reads alike, because
 * request smuggling needs two readings.
 *
 * @param head request line and header lines, each with its CRLF, without the empty line; one character a byte
 * @throws {Refusal}
 */
export function parseRequestHead(head: string): RequestHead {
  const lineEnd = head.indexOf('\r\n');
  const line = head.slice(0, lineEnd);
  const match = REQUEST_LINE.exec(line);
  if (!match) throw malformed('the request line is not "METHOD target HTTP/1.1"');
  const [, method = '', target = '', version = ''] = match;
  if (version !== '1.1' && version !== '1.0') {
    throw new Refusal('unsupported-version', `HTTP/${version} is not spoken here; use HTTP/1.1`);
  }
  const rewrittenLine = rewriteRequestLine(method, target, version);
  const fields = framingFields(head, lineEnd + 2);
  checkHost(fields.host, version);
  const body = bodyFraming(fields, version);
  const expect = fields.expect[0];
  if (expect !== undefined && (fields.expect.length > 1 || expect.toLowerCase() !== '100-continue')) {
    throw new Refusal('unmet-expectation', `the expectation "${expect}" is not known; only 100-continue is`);
  }
  const options = fields.connection.flatMap((value) =>
    value
      .toLowerCase()
      .split(',')
      .map((option) => option.trim()),
  );
  const upgrade =
    method === 'GET' &&
    version === '1.1' &&
    options.includes('upgrade') &&
    fields.upgrade.join().toLowerCase() === 'websocket';
  if (upgrade && body.kind !== 'none') throw malformed('a request to open a WebSocket has no body');
  const last = version === '1.1' ? options.includes('close') : !options.includes('keep-alive');
  const lines = head.slice(lineEnd);
  // After a refused upgrade, Node ignores the rest of the packet. A server may ignore the Upgrade header (RFC 9110
  // section 7.8), so it is removed.
  const kept = fields.upgrade.length > 0 && !upgrade ? lines.replaceAll(UPGRADE_LINE, '\r\n') : lines;
  const rewritten = rewrittenLine === undefined && kept === lines ? undefined : (rewrittenLine ?? line) + kept;
  return { method, target, rewritten, body, last, upgrade };
}

function rewriteRequestLine(method: string, target: string, version: string): string | undefined {
  // Any upper-case word is routed as a custom method: the router refuses unknown ones.
  const custom = !NATIVE_METHODS.has(method);
  if (custom && !CUSTOM_METHOD.test(method)) {
    const name = method.slice(0, 32);
    throw new Refusal('unknown-method', `the method "${name}" is not known; methods are upper case`, { method: name });
  }
  if (target === '*' ? method !== 'OPTIONS' : !target.startsWith('/')) {
    throw malformed('the target must be a path that starts with a slash');
  }
  if (target.includes('#')) throw malformed('the target holds a fragment');
  if (!custom) return undefined;
  const suffixed = suffixedTarget(method, target);
  if (suffixed === undefined) {
    throw malformed(`${method} needs the path of a collection or entity, without "!"`);
  }
  return `POST ${suffixed} HTTP/${version}`;
}

function framingFields(head: string, start: number): FramingFields {
  const lines = head.slice(start);
  if (!HEADER_LINES.test(lines)) throw malformed('a header line is not "Name: value"');
  const fields: FramingFields = {
    host: [],
    connection: [],
    upgrade: [],
    expect: [],
    'content-length': [],
    'transfer-encoding': [],
  };
  let count = 0;
  for (let at = 0; at < lines.length; ) {
    if (++count > MAX_HEADERS) throw new Refusal('head-too-large', `more than ${MAX_HEADERS} header lines`);
    const colon = lines.indexOf(':', at);
    const end = lines.indexOf('\r\n', colon);
    const name = lines.slice(at, colon).toLowerCase();
    const field = FRAMING_FIELDS.find((known) => known === name);
    if (field) fields[field].push(trimBlanks(lines.slice(colon + 1, end)));
    at = end + 2;
  }
  return fields;
}

/** Removes spaces and tabs only: `trim` would also remove characters that Node's parser keeps. */
function trimBlanks(value: string): string {
  let start = 0;
  let end = value.length;
  const blank = (at: number) => value.charCodeAt(at) === 0x20 || value.charCodeAt(at) === 0x09;
  while (start < end && blank(start)) start++;
  while (end > start && blank(end - 1)) end--;
  return value.slice(start, end);
}

function checkHost(values: readonly string[], version: string): void {
  const [host] = values;
  if (values.length > 1) throw malformed('more than one Host header');
  if (host === undefined) {
    if (version === '1.1') throw malformed('the Host header is missing');
  } else if (!HOST.test(host)) {
    throw malformed('the Host header is not "host" or "host:port"');
  }
}

function bodyFraming(fields: FramingFields, version: string): BodyFraming {
  const lengths = fields['content-length'];
  const encodings = fields['transfer-encoding'];
  if (encodings.length > 0) {
    if (lengths.length > 0) throw malformed('both Content-Length and Transfer-Encoding');
    if (version !== '1.1') throw malformed('Transfer-Encoding needs HTTP/1.1');
    if (encodings.length > 1 || encodings[0]?.toLowerCase() !== 'chunked') {
      throw malformed('the only Transfer-Encoding is "chunked", given once');
    }
    return { kind: 'chunked' };
  }
  const [length] = lengths;
  if (length === undefined) return { kind: 'none' };
  if (lengths.length > 1) throw malformed('more than one Content-Length header');
  if (!CONTENT_LENGTH.test(length)) throw malformed('Content-Length is not a number of bytes');
  const bytes = Number(length);
  return bytes === 0 ? { kind: 'none' } : { kind: 'length', bytes };
}
