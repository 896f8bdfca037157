import { createRequire } from 'node:module';
import { expect } from 'chai';
import { readMessagesQuickly } from '../../runtime/signalling/quick-messages.ts';

const require = createRequire(import.meta.url);

interface Message {
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
  get(name: string): string | undefined;
  has(name: string): boolean;
  set(name: string, value: string): void;
}
type MessageClass = new (text: string) => Message;

/** The library's own class, which no other test or room has changed. */
function untouched(): MessageClass {
  const files = ['message', 'parser'].map((name) => require.resolve(`drachtio-srf/lib/sip-parser/${name}`));
  const changed = files.map((file) => require.cache[file]);
  for (const file of files) Reflect.deleteProperty(require.cache, file);
  const own = require('drachtio-srf/lib/sip-parser/message') as MessageClass;
  files.forEach((file, index) => {
    require.cache[file] = changed[index];
  });
  return own;
}

const SDP = 'v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=caf\u00E9\r\n';

function message(...lines: string[]): string {
  return `${lines.join('\r\n')}\r\n\r\n`;
}

const MESSAGES: Readonly<Record<string, string>> = {
  'an INVITE': `${message(
    'INVITE sip:102@demo.local SIP/2.0',
    'Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1',
    'Via: SIP/2.0/UDP 192.0.2.2;branch=z9hG4bK2',
    'f: "Ann" <sip:ann@demo.local>;tag=1',
    'To:<sip:102@demo.local>',
    'CALL-ID: abc@x',
    'X-Any: one',
    'x-any: two',
    'P-Asserted-Identity: <sip:1@a>',
    'P-Early-Media: supported',
    'Diversion: <sip:2@a>',
    'Subject:   ',
    'Content-Type : application/sdp',
    `Content-Length: ${Buffer.byteLength(SDP)}`,
  )}${SDP}`,
  'a shorter body than announced': `${message('OPTIONS sip:a SIP/2.0', 'Content-Length: 900')}abc`,
  'a longer body than announced': `${message('OPTIONS sip:a SIP/2.0', 'l: 2')}abcd\r\n\r\nef`,
  'a length that is no number': `${message('OPTIONS sip:a SIP/2.0', 'Content-Length: many')}abc`,
  'a negative length': `${message('OPTIONS sip:a SIP/2.0', 'Content-Length: -4')}abc`,
  'no length': `${message('SIP/2.0 200 OK', 'Call-ID: a')}abc\r\n\r\ndef`,
  'an empty length': `${message('SIP/2.0 200 OK', 'Content-Length:')}abc`,
  'no body': message('SIP/2.0 180 Ringing', 'Call-ID: a', 'Content-Length: 0'),
  'no reason phrase': message('SIP/2.0 200', 'Content-Length: 0'),
  'no end of the headers': 'SIP/2.0 200 OK\r\nCall-ID: a',
  'no headers': message('SIP/2.0 200 OK'),
  'a folded header': message('SIP/2.0 200 OK', 'Subject: a', '\tb', ' c', 'Content-Length: 0'),
  'white space beyond blanks': message('SIP/2.0 200 OK', 'Subject:\u000b\u00a0a', 'Content-Length: 0'),
  'a value that begins with a letter beyond ASCII': message('SIP/2.0 200 OK', 'Subject: \u00c4', 'Content-Length: 0'),
  'names with percent signs': message('SIP/2.0 200 OK', 'C%41ll-ID: a', 'Content-Length: 0'),
  'a method with percent signs': message('INV%41TE sip:a SIP/2.0', 'Content-Length: 0'),
  'several parts': `${message('SIP/2.0 200 OK', 'c: multipart/mixed; boundary=q', 'Content-Length: 60')}--q\r\nContent-Type: a/b\r\n\r\nabc\r\n--q--`,
};
const BROKEN: Readonly<Record<string, string>> = {
  'a line without a colon': message('SIP/2.0 200 OK', 'nothing', 'Content-Length: 0'),
  'a name with a blank': message('SIP/2.0 200 OK', 'a b: c', 'Content-Length: 0'),
  'a broken first line': message('GET / HTTP/1.1', 'Host: a'),
  nothing: '',
};
const NAMES = ['call-id', 'Call-ID', 'i', 'FROM', 'To', 'Via', 'x-any', 'X-Any', 'P-Early-Media', 'p-early-media'];
const MORE = ['diversion', 'Diversion', 'Subject', 'content-type', 'Absent', 'p-asserted-identity', 'toString'];

describe('signalling: SIP messages from the library', () => {
  let Quick: MessageClass;
  let Own: MessageClass;

  before(() => {
    readMessagesQuickly();
    Quick = require('drachtio-srf/lib/sip-parser/message') as MessageClass;
    Own = untouched();
  });

  for (const [what, text] of Object.entries(MESSAGES))
    it(`are read as the library reads them: ${what}`, () => {
      const quick = new Quick(text);
      const own = new Own(text);
      expect({ ...quick, headers: Object.entries(quick.headers) }).to.deep.equal({
        ...own,
        headers: Object.entries(own.headers),
      });
      for (const name of [...NAMES, ...MORE]) {
        expect(quick.get(name), name).to.equal(own.get(name));
        expect(quick.has(name), name).to.equal(own.has(name));
      }
    });

  for (const [what, text] of Object.entries(BROKEN))
    it(`are refused as the library refuses them: ${what}`, () => {
      const read = (Class: MessageClass) => () => Object.keys(new Class(text).headers);
      if (text === '') expect(read(Quick)()).to.deep.equal(read(Own)());
      else {
        expect(read(Own)).to.throw('failed to parse');
        expect(read(Quick)).to.throw('failed to parse');
      }
    });

  it('keep a header that an application sets, under the library’s name', () => {
    for (const Class of [Quick, Own]) {
      const set = new Class(message('SIP/2.0 200 OK', 'Contact: <sip:a>', 'Content-Length: 0'));
      set.set('m', '<sip:b>');
      set.set('X-New', '1');
      expect([set.get('Contact'), set.get('x-new')]).to.deep.equal(['<sip:a>,<sip:b>', '1']);
    }
  });
});
