import { expect } from 'chai';
import { parseNameAddr, parseUri } from './address.ts';
import { authorization, parseChallenge } from './digest.ts';
import { header, headerList, parseMessage, serialise, SipSyntaxError } from './message.ts';
import { StreamFramer } from './transport.ts';

describe('SIP messages of the test phone', () => {
  const text = [
    'INVITE sip:bob@127.0.0.1:5070 SIP/2.0',
    'v: SIP/2.0/UDP 127.0.0.1:5060;branch=z9hG4bK1',
    'Contact: "Smith, Bob" <sip:bob@h;a=b>, <sip:c@d>;expires=3',
    'Subject: folded',
    '  line',
    'l: 4',
    '',
    'body',
  ].join('\r\n');

  it('reads compact names, folded lines and lists', () => {
    const message = parseMessage(Buffer.from(text));
    expect(header(message, 'Via')).to.equal('SIP/2.0/UDP 127.0.0.1:5060;branch=z9hG4bK1');
    expect(header(message, 'subject')).to.equal('folded line');
    expect(headerList(message, 'contact')).to.deep.equal(['"Smith, Bob" <sip:bob@h;a=b>', '<sip:c@d>;expires=3']);
    expect(message.body).to.equal('body');
    expect(parseMessage(serialise(message)).body).to.equal('body');
  });

  it('refuses bare LF, a short body and a malformed start line', () => {
    for (const bad of [
      text.replace('\r\nv:', '\nv:'),
      text.replace('l: 4', 'l: 5'),
      text.replace('SIP/2.0', 'SIP/3.0'),
      text.replace('Subject:', 'Sub ject'),
    ]) {
      expect(() => parseMessage(Buffer.from(bad)), bad).to.throw(SipSyntaxError);
    }
  });

  it('divides a stream into messages for any division of the bytes', () => {
    const bytes = Buffer.from(`${text}\r\n\r\n${text}`);
    const framer = new StreamFramer();
    const messages = [...bytes].flatMap((byte) => framer.push(Buffer.from([byte])).messages);
    expect(messages.map(String)).to.deep.equal([text, text]);
  });

  it('reads addresses', () => {
    expect(parseUri('sip:bob@[::1]:5070;transport=tcp')).to.include({ user: 'bob', host: '[::1]', port: 5070 });
    expect(parseNameAddr('"B \\"o\\" b" <sip:b@h>;tag=x').display).to.equal('B "o" b');
    expect(parseNameAddr('sip:b@h;tag=x').params.get('tag')).to.equal('x');
    expect(() => parseUri('tel:123')).to.throw('not a SIP URI');
  });

  it('answers the challenges of RFC 7616 section 3.9.1', () => {
    for (const [algorithm, expected] of [
      ['MD5', '8ca523f5e9506fed4657c9700eebdbec'],
      ['SHA-256', '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1'],
    ]) {
      const challenge = parseChallenge(
        `Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=${algorithm}, ` +
          'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"',
      );
      if (challenge === undefined) throw new Error('not understood');
      const value = authorization({
        challenge,
        username: 'Mufasa',
        password: 'Circle of Life',
        method: 'GET',
        uri: '/dir/index.html',
        nonceCount: 1,
        cnonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ',
      });
      expect(value).to.contain(`response="${expected}"`);
    }
  });
});
