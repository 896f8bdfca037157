/** Rules for single messages in any call state (RFC 3261 sections 8.1.1, 8.1.3.3, 8.2.6, 12.1, 20). */
import { AddressError, parseCSeq, parseNameAddr, parseUri, parseVia, tagOf } from './address.ts';
import { header, headerLines, headerList, type SipMessage, type SipRequest, type SipResponse } from './message.ts';
import type { ClientTransaction } from './client-transaction.ts';

const ONCE = ['from', 'to', 'call-id', 'cseq', 'max-forwards', 'content-type', 'content-length', 'expires'];

/** Mistakes of any message: missing or repeated headers, malformed values. Empty without mistakes. */
function commonMistakes(message: SipMessage): string[] {
  const mistakes: string[] = [];
  for (const name of ['via', 'from', 'to', 'call-id', 'cseq']) {
    if (header(message, name) === undefined) mistakes.push(`no ${name} header`);
  }
  for (const name of ONCE) {
    if (headerLines(message, name).length > 1) mistakes.push(`${name} occurs more than once`);
  }
  const attempt = (read: () => unknown): void => {
    try {
      read();
    } catch (error) {
      if (!(error instanceof AddressError)) throw error;
      mistakes.push(error.message);
    }
  };
  for (const via of headerList(message, 'via')) attempt(() => parseVia(via));
  for (const name of ['from', 'to']) {
    const value = header(message, name);
    if (value !== undefined) attempt(() => parseUri(parseNameAddr(value).uri));
  }
  for (const contact of headerList(message, 'contact')) {
    if (contact !== '*') attempt(() => parseUri(parseNameAddr(contact).uri));
  }
  const cseq = header(message, 'cseq');
  if (cseq !== undefined) attempt(() => parseCSeq(cseq));
  if (message.body !== '' && header(message, 'content-type') === undefined)
    mistakes.push('a body without Content-Type');
  return mistakes;
}

/** Mistakes visible in the request alone. */
export function requestMistakes(request: SipRequest): string[] {
  const mistakes = commonMistakes(request);
  if (mistakes.length > 0) return mistakes;
  if (tagOf(header(request, 'from')) === undefined) mistakes.push('From has no tag');
  if (header(request, 'max-forwards') === undefined) mistakes.push('no Max-Forwards');
  if (parseCSeq(header(request, 'cseq') ?? '').method !== request.method) mistakes.push('CSeq names another method');
  const branch = parseVia(headerList(request, 'via')[0] ?? '').params.get('branch');
  if (!branch?.startsWith('z9hG4bK') || branch.length <= 7) mistakes.push(`Via branch is not RFC 3261's: ${branch}`);
  if (['INVITE', 'SUBSCRIBE', 'REFER'].includes(request.method) && headerList(request, 'contact').length !== 1) {
    mistakes.push(`${request.method} must have exactly one Contact`);
  }
  return mistakes;
}

/** Mistakes of a response, compared with its request. */
export function responseMistakes(response: SipResponse, transaction: ClientTransaction): string[] {
  const mistakes = commonMistakes(response);
  if (mistakes.length > 0) return mistakes;
  const { request } = transaction;
  const via = headerList(response, 'via');
  const sent = parseVia(header(request, 'via') ?? '');
  const got = parseVia(via[0] ?? '');
  if (via.length !== 1) mistakes.push(`${via.length} Via values in a response that is for this phone`);
  if (got.sentBy !== sent.sentBy) mistakes.push(`Via sent-by is ${got.sentBy}, sent was ${sent.sentBy}`);
  for (const name of ['from', 'call-id', 'cseq']) {
    if (header(response, name) !== header(request, name)) {
      mistakes.push(`${name} is "${header(response, name)}", sent was "${header(request, name)}"`);
    }
  }
  const to = header(response, 'to') ?? '';
  const sentTo = header(request, 'to') ?? '';
  const sentTag = tagOf(sentTo);
  const tag = tagOf(to);
  if (parseNameAddr(to).uri !== parseNameAddr(sentTo).uri) mistakes.push(`To is "${to}", sent was "${sentTo}"`);
  if (sentTag !== undefined && tag !== sentTag) mistakes.push(`To tag is ${tag}, the dialog's is ${sentTag}`);
  if (response.status > 100 && tag === undefined) mistakes.push(`${response.status} has no To tag`);
  return mistakes.concat(inviteResponseMistakes(response, request));
}

function inviteResponseMistakes(response: SipResponse, request: SipRequest): string[] {
  if (request.method !== 'INVITE' || response.status <= 100 || response.status >= 300) return [];
  const mistakes: string[] = [];
  const contacts = headerList(response, 'contact').length;
  // Each creates a dialog (section 12.1.1).
  if (contacts !== 1) mistakes.push(`${response.status} to INVITE has ${contacts} Contact values`);
  if (response.status >= 200 && response.body === '') mistakes.push('2xx to INVITE without a session description');
  if (response.body !== '' && !/^application\/sdp\b/i.test(header(response, 'content-type') ?? '')) {
    mistakes.push(`body of type ${header(response, 'content-type')}`);
  }
  if (headerList(response, 'require').includes('100rel')) mistakes.push('Require: 100rel, which was not offered');
  return mistakes;
}
