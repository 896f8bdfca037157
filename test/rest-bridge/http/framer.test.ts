import { expect } from 'chai';
import { MAX_HEAD_BYTES } from '../../../rest-bridge/http/message-framer.ts';
import { CUSTOM_METHODS, NATIVE_METHODS, suffixedTarget } from '../../../rest-bridge/http/methods.ts';
import { GET, POST, REFUSED_STREAMS } from './refused-streams.ts';
import { frame } from './framing.ts';

const run = (text: string) => frame([Buffer.from(text, 'latin1')]);

describe('message framer', () => {
  for (const [name, kind, stream] of REFUSED_STREAMS) {
    it(`refuses ${name}`, () => {
      const { messages, refusal } = run(stream);
      expect(refusal?.kind).to.equal(kind);
      expect(refusal?.inBody).to.equal(messages.length > 0);
      expect(messages.every(({ body }) => body === undefined)).to.equal(true);
    });
  }

  it('passes nothing on after a refusal', () => {
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

  it('removes an Upgrade header to another protocol, which Node would mishandle', () => {
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

  it('takes every spelling of length zero as no body', () => {
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
