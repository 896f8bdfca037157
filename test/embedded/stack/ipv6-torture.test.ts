import { expect } from 'chai';
import {
  destinationOf,
  parseMessage,
  parseNameAddr,
  parseUri,
  parseVia,
  SipParseError,
  type SipRequest,
} from '../../../runtime/embedded/stack/index.ts';
import { validateRequest } from '../../../runtime/embedded/stack/validate.ts';
import { readDescription } from '../../../runtime/embedded/media/sip/sdp.ts';
import { wire } from './messages.ts';

/** Parses and validates a request like the endpoint. */
function accept(text: string): SipRequest {
  const message = parseMessage(wire(text));
  if (message.kind !== 'request') throw new Error('a response');
  validateRequest(message);
  return message;
}

function register(requestLine: string, via = 'SIP/2.0/UDP [2001:db8::9:1];branch=z9hG4bKas3-111'): string {
  return `
${requestLine}
To: sip:user@example.com
From: sip:user@example.com;tag=81x2
Via: ${via}
Call-ID: SSG9559905523997077@hlau_4100
Max-Forwards: 70
Contact: "Caller" <sip:caller@[2001:db8::1]>
CSeq: 98176 REGISTER
Content-Length: 0

`;
}

const describes = (connection: string): string =>
  [
    'v=0',
    'o=assistant 971731711378798081 0 IN IP6 2001:db8::20',
    's=Live video feed for today',
    connection,
    't=3338481189 3370017201',
    'm=audio 6000 RTP/AVP 0',
    '',
  ].join('\r\n');

describe('SIP torture messages for IPv6 (RFC 5118)', () => {
  it('an IPv6 reference in a request URI is accepted (section 4.1)', () => {
    const request = accept(register('REGISTER sip:[2001:db8::10] SIP/2.0'));
    expect(parseUri(request.uri)).to.include({ host: '2001:db8::10', port: undefined });
    const contact = parseNameAddr(request.values('contact')[0] ?? '', 'Contact');
    expect(parseUri(contact.uri).host).to.equal('2001:db8::1');
    expect(request.topVia).to.include({ host: '2001:db8::9:1', port: undefined });
  });

  it('an IPv6 address without brackets in a request URI is refused (section 4.2)', () => {
    expect(() => accept(register('REGISTER sip:2001:db8::10 SIP/2.0'))).to.throw(SipParseError);
  });

  it('a last group within the brackets is no port (section 4.3)', () => {
    const { uri } = accept(register('REGISTER sip:[2001:db8::10:5070] SIP/2.0'));
    expect(destinationOf(uri)).to.include({ host: '2001:db8::10:5070', port: 5060 });
  });

  it('a port after the brackets is one (section 4.4)', () => {
    const { uri } = accept(register('REGISTER sip:[2001:db8::10]:5070 SIP/2.0'));
    expect(destinationOf(uri)).to.include({ host: '2001:db8::10', port: 5070 });
  });

  for (const [received, section] of [
    ['[2001:db8::9:255]', '4.5.1'],
    ['2001:db8::9:255', '4.5.2'],
  ] as const) {
    it(`received=${received} in Via is accepted (section ${section})`, () => {
      const via = `SIP/2.0/UDP [2001:db8::9:1];received=${received};branch=z9hG4bKas3-111`;
      const request = accept(
        register('OPTIONS sip:[2001:db8::10] SIP/2.0', via).replace('98176 REGISTER', '98176 OPTIONS'),
      );
      expect(request.topVia.params.get('received')).to.equal(received);
      expect(request.topVia.host).to.equal('2001:db8::9:1');
    });
  }

  it('an IPv6 address in a session description is read (section 4.6)', () => {
    expect(readDescription(describes('c=IN IP6 2001:db8::20'))?.audio?.address).to.equal('2001:db8::20');
    expect(readDescription(describes('c=IN IP6 2001:DB8:0:0::20'))?.audio?.address).to.equal('2001:db8::20');
  });

  it('IPv4 and IPv6 may be mixed in Via, Route and Contact (section 4.7)', () => {
    const request = accept(`
BYE sip:user@host.example.net SIP/2.0
Via: SIP/2.0/UDP [2001:db8::9:1]:6050;branch=z9hG4bKas3-111
Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKjhja8781hjuaij65144
Via: SIP/2.0/TCP [2001:db8::9:255];branch=z9hG4bK451jj;received=192.0.2.200
Call-ID: 997077@lau_4100
Max-Forwards: 70
CSeq: 89187 BYE
To: sip:user@example.net;tag=9817--94
From: sip:user@example.com;tag=81x2
Content-Length: 0

`);
    const [first, second, third] = request.values('via').map((value) => parseVia(value));
    expect(first).to.include({ host: '2001:db8::9:1', port: 6050 });
    expect(second).to.include({ host: '192.0.2.1', port: undefined });
    expect(third).to.include({ transport: 'TCP', host: '2001:db8::9:255' });
  });

  it('each stream of a session description may have an address of its own (section 4.8)', () => {
    const sdp = [
      'v=0',
      'o=bob 280744730 28977631 IN IP4 host.example.com',
      's=',
      't=0 0',
      'm=audio 22334 RTP/AVP 0',
      'c=IN IP4 192.0.2.1',
      'm=video 6024 RTP/AVP 107',
      'c=IN IP6 2001:db8::1',
      'a=rtpmap:107 H263-1998/90000',
      '',
    ].join('\r\n');
    expect(readDescription(sdp)?.audio).to.include({ address: '192.0.2.1', port: 22_334 });
  });

  it('an IPv4-mapped IPv6 address is the IPv4 address (section 4.9)', () => {
    expect(readDescription(describes('c=IN IP6 ::ffff:192.0.2.10'))?.audio?.address).to.equal('192.0.2.10');
    expect(parseUri('sip:user@[::ffff:192.0.2.2]').host).to.equal('::ffff:192.0.2.2');
  });

  it('an address with three colons is refused (section 4.10)', () => {
    expect(() => accept(register('REGISTER sip:user@[2001:db8:::192.0.2.1] SIP/2.0'))).to.throw(SipParseError);
  });
});

describe('IPv6 in SIP URIs', () => {
  it('zones are refused, as they mean something on one machine only', () => {
    for (const uri of ['sip:bob@[fe80::1%eth0]', 'sip:bob@[fe80::1%25eth0]:5060']) {
      expect(() => parseUri(uri), uri).to.throw(SipParseError, 'an IPv6 address without zone');
    }
  });

  it('what is in brackets has to be an IPv6 address', () => {
    for (const host of ['[]', '[192.0.2.1]', '[example.com]', '[2001:db8::1', '[2001:db8::1]x', '[12345::]']) {
      expect(() => parseUri(`sip:bob@${host}`), host).to.throw(SipParseError);
    }
  });

  it('maddr may have brackets or none', () => {
    expect(destinationOf('sip:bob@example.com;maddr=[2001:db8::5]').host).to.equal('2001:db8::5');
    expect(destinationOf('sip:bob@example.com;maddr=192.0.2.5').host).to.equal('192.0.2.5');
    expect(() => destinationOf('sip:bob@example.com;maddr=[fe80::1%eth0]')).to.throw(SipParseError);
  });
});
