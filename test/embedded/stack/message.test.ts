import { expect } from 'chai';
import {
  bytes,
  DEFAULT_LIMITS,
  formatNameAddr,
  formatUri,
  parseMessage,
  parseNameAddr,
  parseUri,
  parseVia,
  SipParseError,
  SipRequest,
  splitOutside,
  tagOf,
  utf8,
} from '../../../runtime/embedded/stack/index.ts';
import { completeVia } from '../../../runtime/embedded/stack/via.ts';
import { INVITE, request, response, wire } from './messages.ts';

describe('SIP messages', () => {
  it('reads a request', () => {
    const invite = request(INVITE);
    expect(invite.method).to.equal('INVITE');
    expect(invite.uri).to.equal('sip:bob@127.0.0.1');
    expect(invite.fromTag).to.equal('from1');
    expect(invite.toTag).to.equal(undefined);
    expect(invite.cseq).to.deep.equal({ number: 7, method: 'INVITE' });
    expect(invite.topVia.params.get('branch')).to.equal('z9hG4bKa1');
  });

  it('forwards the received bytes unchanged: spelling, folding, spacing, UTF-8', () => {
    const original = wire(`
MESSAGE sip:service@127.0.0.1:5060 SIP/2.0
v: SIP/2.0/UDP 127.0.0.1:15070;branch=z9hG4bK-compact
f:   <sip:raw@127.0.0.1>;tag=compact
t: <sip:service@127.0.0.1>
i: compact
CSEQ: 1 MESSAGE
SUBJECT: first part
 second part
x-Custom-ONE: grüße 😀
X-Custom-One: b
c: text/plain;charset=utf-8
l:    12

grüße 😀`);
    const message = parseMessage(original);
    expect(message.toBuffer().equals(original)).to.equal(true);
    expect(message.header('Subject')).to.equal('first part second part');
    expect(message.values('x-custom-one').map(utf8)).to.deep.equal(['grüße 😀', 'b']);
    expect(message.header('Call-ID')).to.equal('compact');
    expect(message.body.toString()).to.equal('grüße 😀');
  });

  it('reads a status line with an empty or odd reason', () => {
    expect(response(INVITE.replace(/^\n.*\n/, '\nSIP/2.0 200 \n')).reason).to.equal('');
    expect(response(INVITE.replace(/^\n.*\n/, '\nSIP/2.0 486 Ist besetzt: ja\n')).reason).to.equal('Ist besetzt: ja');
  });

  it('splits lists only outside of quotes and brackets', () => {
    expect(splitOutside('"a, b" <sip:x,y@h>;q=1 , <sip:z@h>', ',')).to.deep.equal([
      '"a, b" <sip:x,y@h>;q=1',
      '<sip:z@h>',
    ]);
    const message = request(INVITE);
    message.add('Route', '<sip:a;lr>, <sip:b;lr>').add('Route', '<sip:c;lr>');
    expect(message.values('route')).to.deep.equal(['<sip:a;lr>', '<sip:b;lr>', '<sip:c;lr>']);
    expect(message.shift('Route')).to.equal('<sip:a;lr>');
    expect(message.values('route')).to.deep.equal(['<sip:b;lr>', '<sip:c;lr>']);
  });

  it('updates Content-Length with the body', () => {
    const message = new SipRequest('OPTIONS', 'sip:a@b').add('Content-Length', '99');
    message.body = Buffer.from('four');
    expect(message.toBuffer().toString()).to.equal('OPTIONS sip:a@b SIP/2.0\r\nContent-Length: 4\r\n\r\nfour');
  });

  it('takes UTF-8 text given with bytes()', () => {
    const message = new SipRequest('MESSAGE', 'sip:a@b').add('Subject', bytes('Grüße'));
    expect(message.toBuffer().toString('utf8')).to.contain('Subject: Grüße\r\n');
  });

  it('drops bytes of a datagram beyond Content-Length, and takes the rest without one', () => {
    expect(parseMessage(wire('\nOPTIONS sip:a SIP/2.0\nl: 2\n\nabcd')).body.toString()).to.equal('ab');
    expect(parseMessage(wire('\nOPTIONS sip:a SIP/2.0\n\nabcd')).body.toString()).to.equal('abcd');
  });

  const refused: Record<string, [string, string]> = {
    'no SIP at all': ['hello\n\n', 'start-line'],
    'no empty line': ['OPTIONS sip:a SIP/2.0\nl: 0\n', 'message'],
    'another version': ['OPTIONS sip:a SIP/3.0\n\n', 'start-line'],
    'blanks in the request-URI': ['OPTIONS sip:a; lr SIP/2.0\n\n', 'start-line'],
    'brackets around the request-URI': ['OPTIONS <sip:a> SIP/2.0\n\n', 'start-line'],
    'a status beyond 699': ['SIP/2.0 4294967301 better\n\n', 'start-line'],
    'a header without colon': ['OPTIONS sip:a SIP/2.0\nfoo\n\n', 'header'],
    'a header name with blanks': ['OPTIONS sip:a SIP/2.0\nfoo bar: x\n\n', 'header'],
    'a negative Content-Length': ['OPTIONS sip:a SIP/2.0\nl: -999\n\n', 'Content-Length'],
    'two Content-Lengths': ['OPTIONS sip:a SIP/2.0\nl: 0\nl: 1\n\nx', 'Content-Length'],
    'Content-Length beyond the datagram': ['OPTIONS sip:a SIP/2.0\nl: 9999\n\nx', 'Content-Length'],
    'too many headers': [`OPTIONS sip:a SIP/2.0\n${'a: b\n'.repeat(300)}\n`, 'message'],
    'headers beyond the limit': [`OPTIONS sip:a SIP/2.0\na: ${'b'.repeat(40_000)}\n\n`, 'message'],
  };
  for (const [what, [text, field]] of Object.entries(refused)) {
    it(`refuses ${what}`, () => {
      expect(() => parseMessage(wire(`\n${text}`)))
        .to.throw(SipParseError)
        .with.property('field', field);
    });
  }

  it('refuses a message beyond the limit before reading it', () => {
    expect(() => parseMessage(Buffer.alloc(DEFAULT_LIMITS.maxMessageBytes + 1))).to.throw(SipParseError, /at most/);
  });
});

describe('SIP URIs and addresses', () => {
  const uris = [
    'sip:bob@127.0.0.1',
    'sip:+1-212-555-1212:1234@gateway.com;user=phone',
    'sips:alice@[2001:db8::1]:5061;transport=tcp;lr',
    'sip:sip%3Auser%40example.com@company.com;other-param=summit',
    'sip:user;par=u%40example.net@example.com?subject=x&body=y',
    'tel:+358-555-1234567;postd=pp22',
    'sip:127.0.0.1:5060',
  ];
  for (const text of uris) it(`reads and writes ${text}`, () => expect(formatUri(parseUri(text))).to.equal(text));

  it('refuses bad URIs', () => {
    for (const text of ['', 'sip:', 'sip:bob@', 'sip:h:99999', 'sip:h:1x', 'bob@host', 'sip:[::1', 'sip:a b@c d']) {
      expect(() => parseUri(text), text).to.throw(SipParseError);
    }
  });

  it('reads addresses with and without brackets', () => {
    expect(parseNameAddr('"A \\"B, <C>" <sip:a@b;x=1>;tag=t;q')).to.deep.equal({
      display: '"A \\"B, <C>"',
      uri: 'sip:a@b;x=1',
      params: new Map([
        ['tag', 't'],
        ['q', undefined],
      ]),
    });
    expect(parseNameAddr('sip:a@b;tag=t').uri).to.equal('sip:a@b');
    expect(formatNameAddr(parseNameAddr('Bob  <sip:b@c>;tag=1'))).to.equal('Bob <sip:b@c>;tag=1');
    for (const bad of ['', '<sip:a', '"open <sip:a>', '<>'])
      expect(() => parseNameAddr(bad), bad).to.throw(SipParseError);
  });

  it('finds only a tag', () => {
    expect(tagOf('<sip:a;tag=uri@b>;x=1;TAG = t1 ;y')).to.equal('t1');
    expect(tagOf('"x;tag=1" <sip:a>')).to.equal(undefined);
    expect(tagOf('sip:a@b;tag=2')).to.equal('2');
    expect(tagOf('<sip:a>;tagged=3')).to.equal(undefined);
  });

  it('reads Via with blanks around slashes and IPv6', () => {
    expect(parseVia('SIP  / 2.0\t/ UDP [::1]:5070 ; branch = z9hG4bK1')).to.deep.include({
      transport: 'UDP',
      host: '::1',
      port: 5070,
    });
    for (const bad of ['', 'SIP/2.0/UDP', 'SIP/2.0 h', 'HTTP/2.0/TCP h', 'SIP/2.0/UDP h:x']) {
      expect(() => parseVia(bad), bad).to.throw(SipParseError);
    }
  });

  it('completes Via with rport and received, like drachtio-server', () => {
    const complete = (value: string): string => completeVia(value, parseVia(value), '127.0.0.1', 15070);
    expect(complete('SIP/2.0/UDP 127.0.0.1:15070;branch=z9hG4bK1')).to.equal(
      'SIP/2.0/UDP 127.0.0.1:15070;branch=z9hG4bK1;rport=15070',
    );
    expect(complete('SIP/2.0/UDP 127.0.0.1:15070;rport;branch=z9hG4bK1')).to.equal(
      'SIP/2.0/UDP 127.0.0.1:15070;rport=15070;branch=z9hG4bK1',
    );
    expect(complete('SIP/2.0/UDP 10.0.0.9;branch=z9hG4bK1;received=6.6.6.6, SIP/2.0/UDP b')).to.equal(
      'SIP/2.0/UDP 10.0.0.9;branch=z9hG4bK1;rport=15070;received=127.0.0.1, SIP/2.0/UDP b',
    );
  });
});
