import { expect } from 'chai';
import { MAX_HEAD_BYTES } from '../../../rest-bridge/http/message-framer.ts';
import { CUSTOM_METHODS, NATIVE_METHODS, suffixedTarget } from '../../../rest-bridge/http/methods.ts';
import type { RefusalKind } from '../../../rest-bridge/http/refusal.ts';
import { frame } from './framing.ts';

const run = (text: string) => frame([Buffer.from(text, 'latin1')]);
const GET = 'GET /a HTTP/1.1\r\nHost: x\r\n';
const POST = 'POST /a HTTP/1.1\r\nHost: x\r\n';

const REFUSED: readonly (readonly [name: string, kind: RefusalKind, stream: string])[] = [
  ['two Content-Length headers', 'malformed', `${POST}Content-Length: 1\r\nContent-Length: 1\r\n\r\na`],
  ['a list of lengths', 'malformed', `${POST}Content-Length: 1, 1\r\n\r\na`],
  ['a signed length', 'malformed', `${POST}Content-Length: +1\r\n\r\na`],
  ['a negative length', 'malformed', `${POST}Content-Length: -1\r\n\r\n`],
  ['a hexadecimal length', 'malformed', `${POST}Content-Length: 0x1\r\n\r\na`],
  ['an empty length', 'malformed', `${POST}Content-Length:\r\n\r\n`],
  ['a length beyond all measure', 'malformed', `${POST}Content-Length: 9999999999999999\r\n\r\n`],
  ['both framings', 'malformed', `${POST}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  [
    'both framings, the other way round',
    'malformed',
    `${POST}Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n`,
  ],
  ['another encoding', 'malformed', `${POST}Transfer-Encoding: gzip\r\n\r\n`],
  ['encodings in a list', 'malformed', `${POST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
  ['an encoding that ends alike', 'malformed', `${POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
  ['chunked twice', 'malformed', `${POST}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['chunked behind a vertical tab', 'malformed', `${POST}Transfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n`],
  ['chunked behind a no-break space', 'malformed', `${POST}Transfer-Encoding: \xa0chunked\r\n\r\n0\r\n\r\n`],
  ['chunked in HTTP/1.0', 'malformed', 'POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['a chunk extension', 'malformed', `${POST}Transfer-Encoding: chunked\r\n\r\n1;a=b\r\na\r\n0\r\n\r\n`],
  ['a trailer', 'malformed', `${POST}Transfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n\r\n`],
  ['a chunk size without digits', 'malformed', `${POST}Transfer-Encoding: chunked\r\n\r\n\r\n`],
  ['a chunk size of nine digits', 'malformed', `${POST}Transfer-Encoding: chunked\r\n\r\n100000000\r\n`],
  ['a signed chunk size', 'malformed', `${POST}Transfer-Encoding: chunked\r\n\r\n+1\r\na\r\n0\r\n\r\n`],
  ['a chunk that is too long', 'malformed', `${POST}Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n`],
  ['a chunk that ends in a bare line feed', 'malformed', `${POST}Transfer-Encoding: chunked\r\n\r\n1\r\na\n0\r\n\r\n`],
  [
    'a chunk size that ends in a bare line feed',
    'malformed',
    `${POST}Transfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n`,
  ],
  ['a folded header', 'malformed', `${GET}A: b\r\n c\r\n\r\n`],
  ['a fold before the first header', 'malformed', 'GET /a HTTP/1.1\r\n Host: x\r\n\r\n'],
  ['a bare line feed', 'malformed', `${GET}A: b\nC: d\r\n\r\n`],
  ['a bare line feed before the head is complete', 'malformed', 'GET / HTTP/1.1\nHost'],
  ['a bare carriage return', 'malformed', `${GET}A: b\rC: d\r\n\r\n`],
  ['a NUL', 'malformed', `${GET}A: \0\r\n\r\n`],
  ['a space before the colon', 'malformed', `${POST}Content-Length : 1\r\n\r\na`],
  ['a header without a name', 'malformed', `${GET}: b\r\n\r\n`],
  ['a header without a colon', 'malformed', `${GET}abc\r\n\r\n`],
  ['no Host', 'malformed', 'GET /a HTTP/1.1\r\n\r\n'],
  ['two Hosts', 'malformed', `${GET}Host: y\r\n\r\n`],
  ['a Host that is a list', 'malformed', 'GET /a HTTP/1.1\r\nHost: a b\r\n\r\n'],
  ['absolute form', 'malformed', 'GET http://x/a HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a target without a slash', 'malformed', 'GET a HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['an asterisk', 'malformed', 'GET * HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a fragment', 'malformed', 'GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a target with 8-bit characters', 'malformed', 'GET /\xe4 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['two spaces in the request line', 'malformed', 'GET  /a HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a tab in the request line', 'malformed', 'GET\t/a HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['no version', 'malformed', 'GET /a\r\nHost: x\r\n\r\n'],
  ['an empty line before the request', 'malformed', `\r\n${GET}\r\n`],
  ['another version', 'unsupported-version', 'GET /a HTTP/2.0\r\nHost: x\r\n\r\n'],
  ['a version that does not exist', 'unsupported-version', 'GET /a HTTP/1.2\r\nHost: x\r\n\r\n'],
  ['a lower-case method', 'unknown-method', 'get /a HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a lower-case custom method', 'unknown-method', 'lookup /a HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['CONNECT', 'malformed', 'CONNECT x:1 HTTP/1.1 \r\nHost: x\r\n\r\n'],
  ['a custom method with a suffix', 'malformed', 'LOOKUP /a!refer HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a custom method with an escaped suffix', 'malformed', 'LOOKUP /a%21refer HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a custom method on an asterisk', 'malformed', 'LOOKUP * HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['an unknown expectation', 'unmet-expectation', `${POST}Expect: 200-ok\r\n\r\n`],
  ['a long head', 'head-too-large', `${GET}A: ${'a'.repeat(MAX_HEAD_BYTES)}\r\n\r\n`],
  ['a long head that does not end', 'head-too-large', `${GET}A: ${'a'.repeat(MAX_HEAD_BYTES)}`],
  ['too many headers', 'head-too-large', `${GET}${'A: b\r\n'.repeat(100)}\r\n`],
  [
    'a WebSocket request with a body',
    'malformed',
    `${GET}Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 1\r\n\r\na`,
  ],
];

describe('message framer', () => {
  for (const [name, kind, stream] of REFUSED) {
    it(`refuses ${name}`, () => {
      const { messages, refusal } = run(stream);
      expect(refusal?.kind).to.equal(kind);
      expect(refusal?.inBody).to.equal(messages.length > 0);
      expect(messages.every(({ body }) => body === undefined)).to.equal(true);
    });
  }

  it('hands nothing on behind what it refuses', () => {
    const { messages, forwarded, refusal } = run(`${GET}\r\nnonsense\r\n\r\n${GET}\r\n`);
    expect(messages).to.deep.equal([{ method: 'GET', target: '/a', body: 0 }]);
    expect(forwarded.join('')).to.equal(`${GET}\r\n`);
    expect(refusal).to.include({ kind: 'malformed', inBody: false });
  });

  it('changes nothing but the request line of a custom method', () => {
    const rest = ' HTTP/1.1\r\nhOST:x\r\nX-Odd:\t a\xff  \r\nContent-Length: 3\r\n\r\nabc';
    const { forwarded, refusal } = run(`SETUP_ASR /uc/calls/7?x=/!y${rest}`);
    expect(refusal).to.equal(undefined);
    expect(Buffer.concat(forwarded).toString('latin1')).to.equal(`POST /uc/calls/7!setup_asr?x=/!y${rest}`);
  });

  it('does not hand on the wish for another protocol, which Node would stumble over', () => {
    const wish = 'Upgrade: h2c\r\nX-A: upgrade:\r\nupgrade: a\r\nUPGRADE:\r\nConnection: Upgrade\r\n';
    const { messages, forwarded } = run(`${GET}${wish}\r\n`.repeat(2));
    expect(forwarded.join('')).to.equal(`${GET}X-A: upgrade:\r\nConnection: Upgrade\r\n\r\n`.repeat(2));
    expect(messages).to.have.lengthOf(2);
  });

  it('takes HTTP/1.0, with a Host or without, and ends behind it unless kept alive', () => {
    const two = (headers: string) => run(`GET /a HTTP/1.0\r\n${headers}\r\n`.repeat(2)).messages;
    expect(two('')).to.have.lengthOf(1);
    expect(two('Host: x\r\n')).to.have.lengthOf(1);
    expect(two('Connection: Keep-Alive\r\n')).to.have.lengthOf(2);
  });

  it('ends behind Connection: close, in a list and in any case', () => {
    const { messages, refusal } = run(`${GET}Connection: foo, CLOSE\r\n\r\nrubbish`);
    expect(messages).to.have.lengthOf(1);
    expect(refusal).to.equal(undefined);
  });

  it('takes a head of exactly the limit', () => {
    const head = `${GET}A: ${'a'.repeat(MAX_HEAD_BYTES - GET.length - 7)}\r\n\r\n`;
    expect(head).to.have.lengthOf(MAX_HEAD_BYTES);
    expect(run(head).messages).to.have.lengthOf(1);
    expect(run(head.replace('A:', 'AA:')).refusal?.kind).to.equal('head-too-large');
  });

  it('takes a length of zero, however written, as no body', () => {
    for (const zero of ['0', '00', '000000000000000']) {
      const { messages } = run(`${POST}Content-Length: ${zero}\r\n\r\n${GET}\r\n`);
      expect(messages.map(({ body }) => body)).to.deep.equal([0, 0]);
    }
  });

  it('knows each method once', () => {
    expect([...CUSTOM_METHODS].filter((method) => NATIVE_METHODS.has(method))).to.deep.equal([]);
    expect(suffixedTarget('LOOKUP', '/a')).to.equal('/a!lookup');
  });
});
