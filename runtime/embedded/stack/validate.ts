/** Checks the mandatory headers of SIP messages. */
import { SipParseError } from './errors.ts';
import type { SipMessage, SipRequest, SipResponse } from './message.ts';
import { parseNameAddr } from './name-addr.ts';
import { parseUri } from './uri.ts';

const MANDATORY = ['from', 'to', 'call-id', 'cseq'] as const;

/** Headers that may occur only once (RFC 3261 section 7.3.1; RFC 4475 section 3.3.8 tests duplicates). */
const SINGLE = new Set(['from', 'to', 'call-id', 'cseq', 'max-forwards']);

/**
 * Checks the headers that every request must have (section 8.1.1).
 * @throws SipParseError with the header's name. The caller answers with 400 if the request has a Via.
 */
export function validateRequest(request: SipRequest): void {
  validateCommon(request);
  // The getter throws for a malformed Via.
  void request.topVia;
  parseUri(request.uri);
  if (request.cseq.method !== request.method) {
    throw new SipParseError('CSeq', request.header('cseq') ?? '', `the method ${request.method}`);
  }
}

/** Checks a response in the same way. @throws SipParseError with the header's name. The caller drops the response. */
export function validateResponse(response: SipResponse): void {
  validateCommon(response);
  void response.topVia;
}

function validateCommon(message: SipMessage): void {
  for (const name of MANDATORY) {
    const value = message.header(name);
    if (value === undefined || value === '') throw new SipParseError(name, value ?? '', 'a value');
  }
  for (const key of SINGLE) {
    let count = 0;
    for (const field of message.headers) if (field.key === key) count += 1;
    if (count > 1) throw new SipParseError(key, `${count} headers`, 'one header');
  }
  void message.cseq;
  parseNameAddr(message.header('from') ?? '', 'From');
  parseNameAddr(message.header('to') ?? '', 'To');
}
