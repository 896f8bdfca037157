/** Takes secrets out of SIP messages before they are shown or leave the node. */

const CREDENTIALS =
  /^((?:proxy-)?(?:authorization|authenticate|authentication-info)|www-authenticate)([ \t]*:)((?:.|\r\n[ \t])*)/gim;
/** Parameters from which a password can be guessed. */
const PARAMETERS = /\b(response|rspauth|nonce|cnonce|nextnonce|opaque)(\s*=\s*)(?:"[^"]*"|[^\s,"]+)/gi;
const DIGEST_OR_PARAMETERS = /^\s*(?:digest\s|[\w-]+\s*=)/i;
const DTMF_BODY = /^(?:content-type|c)[ \t]*:[ \t]*application\/(?:dtmf(?:-relay)?|vnd\.nortelnetworks\.digits)\b/im;
const NAMED_DIGIT = /^[ \t]*(?:signal|d)[ \t]*=/im;
const NAMED_DIGITS = /^([ \t]*(?:signal|d)[ \t]*=[ \t]*)(\S+)/gim;
/** Keys of SRTP (RFC 4568) and of ICE (RFC 8839). */
const KEYS = /^(a=crypto:.*?inline:|a=ice-pwd:)([^|\s]+)/gim;

/**
 * The message without digest responses and nonces, other credentials, keys of media, and digits that a caller pressed.
 * Bodies keep their length.
 */
export function masked(text: string): string {
  const split = text.indexOf('\r\n\r\n');
  const head = split === -1 ? text : text.slice(0, split);
  const body = split === -1 ? '' : text.slice(split);
  return maskedHead(head) + maskedBody(head, body);
}

function maskedHead(head: string): string {
  return head.replace(CREDENTIALS, (_whole, name: string, colon: string, value: string) => {
    const shown = DIGEST_OR_PARAMETERS.test(value)
      ? value.replace(PARAMETERS, '$1$2"***"')
      : value.replace(/^(\s*\S*)[^]*$/, '$1 ***');
    return `${name}${colon}${shown}`;
  });
}

function maskedBody(head: string, body: string): string {
  if (body.length <= 4) return body;
  if (!DTMF_BODY.test(head))
    return body.replace(KEYS, (_whole, name: string, key: string) => name + '*'.repeat(key.length));
  // `Signal=5` in dtmf-relay, `d=5` of Nortel, the digit alone in dtmf.
  const isNamed = NAMED_DIGIT.test(body);
  return isNamed
    ? body.replace(NAMED_DIGITS, (_whole, name: string, digit: string) => name + '*'.repeat(digit.length))
    : body.replace(/\S/g, '*');
}
