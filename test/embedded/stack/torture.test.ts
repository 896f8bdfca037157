import { expect } from 'chai';
import {
  parseMessage,
  parseUri,
  SipParseError,
  type SipRequest,
  type SipResponse,
} from '../../../runtime/embedded/stack/index.ts';
import { validateRequest } from '../../../runtime/embedded/stack/validate.ts';
import { TORTURE_MESSAGES } from '../../support/torture-messages.ts';
import { request } from './messages.ts';

function parsed(name: string): SipRequest | SipResponse {
  const bytes = TORTURE_MESSAGES.get(name);
  if (bytes === undefined) throw new Error(`no message ${name}`);
  return parseMessage(bytes);
}

/** Parses and validates a request like the endpoint. */
function accept(name: string): SipRequest {
  const message = parsed(name);
  if (message.kind !== 'request') throw new Error(`${name} is a response`);
  validateRequest(message);
  return message;
}

describe('SIP torture messages (RFC 4475)', () => {
  it('wsinv: accepts folded lines and blanks anywhere (section 3.1.1.1)', () => {
    const message = accept('wsinv');
    expect(message.toTag).to.equal('1918181833n');
    expect(message.fromTag).to.equal('98asjd8');
    expect(message.cseq).to.deep.equal({ number: 9, method: 'INVITE' });
    expect(message.topVia).to.include({ transport: 'UDP', host: '192.0.2.2' });
    expect(message.values('via')).to.have.length(3);
    expect(message.values('contact')).to.have.length(1);
    expect(message.body.length).to.equal(150);
  });

  it('intmeth: accepts all valid characters (section 3.1.1.2)', () => {
    const message = accept('intmeth');
    expect(message.fromTag).to.equal("_token~1'+`*%!-.");
    expect(parseUri(message.uri).host).to.equal('example.com');
  });

  it('escnull: accepts escaped nulls (section 3.1.1.4)', () => {
    expect(accept('escnull').values('contact')).to.have.length(2);
  });

  it('esc02: accepts percent signs that are no escapes (section 3.1.1.5)', () => {
    expect(accept('esc02').values('contact')).to.have.length(2);
  });

  it('lwsdisp: accepts header values without blanks (section 3.1.1.6)', () => {
    expect(accept('lwsdisp').fromTag).to.equal('323');
  });

  it('longreq: accepts long values (section 3.1.1.7)', () => {
    const message = accept('longreq');
    expect(message.callId).to.have.length(141);
    expect(message.values('via')).to.have.length(34);
  });

  it('accepts values of 2,000 characters, as in longreq', () => {
    const long = 'x'.repeat(2000);
    const message = request(`
INVITE sip:user@example.com SIP/2.0
To: "${long}" <sip:user@example.com;${long}=1>
From: sip:${long}@example.com;tag=12${'9'.repeat(300)}
Call-ID: longreq.one${long}
CSeq: 3882340 INVITE
${long.slice(0, 100)}: ${long}
Via: SIP/2.0/TCP sip33.example.com
v: SIP/2.0/TCP ${'sip33.'.repeat(20)}example.com;branch=z9hG4bK-1
l: 0

`);
    validateRequest(message);
    expect(message.callId).to.have.length(2011);
  });

  it('dblreq: ignores bytes after the message (section 3.1.1.8)', () => {
    expect(accept('dblreq').body).to.have.length(0);
  });

  it('unreason: accepts an unusual reason phrase (section 3.1.1.12)', () => {
    expect(parsed('unreason')).to.have.property('status', 200);
  });

  const refused = [
    ['clerr', 'a Content-Length beyond the message', '3.1.2.2'],
    ['ncl', 'a negative Content-Length', '3.1.2.3'],
    ['scalar02', 'a CSeq beyond 32 bits', '3.1.2.4'],
    ['quotbal', 'an open quote in a display name', '3.1.2.6'],
    ['lwsruri', 'blanks in the Request-URI', '3.1.2.8'],
    ['lwsstart', 'several blanks in the request line', '3.1.2.9'],
    ['trws', 'blanks at the end of the request line', '3.1.2.10'],
    ['badvers', 'an unknown protocol version', '3.1.2.16'],
    ['mismatch01', 'a CSeq method other than that of the request', '3.1.2.17'],
    ['bigcode', 'a status out of range', '3.1.2.19'],
    ['insuf', 'missing header fields', '3.3.1'],
    ['multi01', 'repeated header fields', '3.3.8'],
  ] as const;
  for (const [name, what, section] of refused) {
    it(`${name}: refuses ${what} (section ${section})`, () => {
      expect(() => accept(name)).to.throw(SipParseError);
    });
  }
});
