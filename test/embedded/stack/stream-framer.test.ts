import { expect } from 'chai';
import { SipParseError, type SipRequest, StreamFramer } from '../../../runtime/embedded/stack/index.ts';
import { wire } from './messages.ts';

function message(body: string): Buffer {
  const text = body.replaceAll('\n', '\r\n');
  return Buffer.concat([wire(`\nMESSAGE sip:a@b SIP/2.0\nContent-Length: ${text.length}\n\n`), Buffer.from(text)]);
}

function framer() {
  const seen: string[] = [];
  const framing = new StreamFramer({
    message: (one) => void seen.push(one.body.toString()),
    ping: () => void seen.push('PING'),
  });
  return { framing, seen };
}

describe('SIP over a stream', () => {
  it('divides messages for any division of the bytes', () => {
    const stream = Buffer.concat([message('one'), Buffer.from('\r\n'), message(''), message('three\n\nMESSAGE x')]);
    for (let size = 1; size <= stream.length; size += 1) {
      const { framing, seen } = framer();
      for (let at = 0; at < stream.length; at += size) framing.push(Buffer.from(stream.subarray(at, at + size)));
      expect(seen, `pieces of ${size}`).to.deep.equal(['one', '', 'three\r\n\r\nMESSAGE x']);
      expect(framing.midMessage).to.equal(false);
    }
  });

  it('answers double CRLF and ignores single ones', () => {
    const { framing, seen } = framer();
    framing.push(Buffer.from('\r\n\r\n'));
    framing.push(Buffer.from('\r\n'));
    framing.push(Buffer.from('\r\n'));
    framing.push(message('x'));
    framing.push(Buffer.from('\r\n'));
    framing.push(message('y'));
    expect(seen).to.deep.equal(['PING', 'PING', 'x', 'y']);
  });

  it('refuses a missing Content-Length but keeps the message for a 400', () => {
    const { framing } = framer();
    expect(() => framing.push(wire('\nMESSAGE sip:a@b SIP/2.0\nVia: x\n\n')))
      .to.throw(SipParseError, /Content-Length/)
      .with.property('rejected')
      .that.satisfies((request: SipRequest) => request.header('via') === 'x');
  });

  it('refuses endless headers and a Content-Length beyond the limit', () => {
    const endless = framer();
    expect(() => {
      for (let i = 0; i < 100_000; i += 1) endless.framing.push(Buffer.from('X-Flood: y\r\n'));
    }).to.throw(SipParseError);
    expect(() => framer().framing.push(wire('\nMESSAGE sip:a SIP/2.0\nl: 99999999\n\n'))).to.throw(
      SipParseError,
      /at most/,
    );
  });

  it('reports the start of a message', () => {
    const { framing } = framer();
    expect(framing.midMessage).to.equal(false);
    framing.push(Buffer.from('MESSAGE sip'));
    expect(framing.midMessage).to.equal(true);
  });
});
