/** Checks additional headers of INVITEs. */
import { notApplicable } from './dialogs.ts';

/**
 * Protected headers: those that the SIP stack writes itself, and those that change the meaning of a request (RFC 3261 section
 * 20 with short forms, RFC 3262, 3515, 3891, 3892, 3911, 4028, 8224). Callers of operations cannot set them.
 */
const PROTECTED = new Set(
  `accept accept-contact accept-encoding allow allow-events authentication-info authorization call-id contact
  content-disposition content-encoding content-language content-length content-type cseq event expires from identity
  in-reply-to join max-forwards mime-version min-expires min-se p-asserted-identity p-preferred-identity path privacy
  proxy-authenticate proxy-authorization proxy-require rack record-route refer-sub refer-to referred-by reject-contact
  remote-party-id replaces require retry-after route rseq server service-route session-expires subscription-state
  supported target-dialog timestamp to unsupported via www-authenticate
  a b c d e f i j k l m n o r t u v x y`.split(/\s+/),
);
const NAME = /^[A-Za-z0-9.!%*_+`'~-]{1,64}$/;
/** Text of a header value: UTF-8 without control characters. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/;
const MAX_HEADERS = 32;
/** Characters of a value. */
export const MAX_HEADER_VALUE = 1024;
/** Characters of headers in one text. */
const MAX_TEXT = 4096;

/**
 * Checks additional headers of an INVITE.
 * @throws ScenarioError code `not_applicable` for a protected or invalid name, and for a value that is too long or has a line
 *   break
 */
export function checkedHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const entries = Object.entries(headers);
  if (entries.length > MAX_HEADERS) throw notApplicable('headers', `are more than ${MAX_HEADERS}`);
  for (const [name, value] of entries) {
    if (!NAME.test(name)) throw notApplicable('headers', `"${name}" is no name of a header`);
    if (PROTECTED.has(name.toLowerCase())) throw notApplicable('headers', `${name} is set by the platform itself`);
    if (value.length > MAX_HEADER_VALUE)
      throw notApplicable(
        'headers',
        `the value of ${name} has ${value.length} characters; ${MAX_HEADER_VALUE} are allowed`,
      );
    if (CONTROL.test(value)) throw notApplicable('headers', `the value of ${name} holds control characters`);
  }
  return headers;
}

/**
 * Headers as one text, separated by CRLF.
 * @throws ScenarioError code `not_applicable`
 */
export function parseHeaders(text: string): Readonly<Record<string, string>> {
  if (text.length > MAX_TEXT) throw notApplicable('headers', `have ${text.length} characters; ${MAX_TEXT} are allowed`);
  const headers: Record<string, string> = {};
  const names = new Set<string>();
  for (const line of text.split(/\r\n|\n/)) {
    if (line.trim() === '') continue;
    const colon = line.indexOf(':');
    if (colon === -1) throw notApplicable('headers', `"${line.slice(0, 40)}" is not NAME: VALUE`);
    const name = line.slice(0, colon).trim();
    if (names.has(name.toLowerCase())) throw notApplicable('headers', `${name} is there twice`);
    names.add(name.toLowerCase());
    headers[name] = line.slice(colon + 1).trim();
  }
  return checkedHeaders(headers);
}
