import { expect } from 'chai';
import fc from 'fast-check';
import { bracketUri, displayName, nameAddr, parseSipUri } from '../../runtime/signalling/sip-uri.ts';

describe('SIP URIs', () => {
  it('are parsed with display name, brackets, port and parameters', () => {
    expect(parseSipUri('"Bob, B." <sip:bob@Demo.Local:5062;transport=TCP;lr>;tag=1')).to.deep.equal({
      scheme: 'sip',
      user: 'bob',
      host: 'demo.local',
      port: 5062,
      params: { transport: 'TCP', lr: '' },
    });
  });

  it('are parsed after a display name that looks like one', () => {
    const from = '"\\"<sip:eve@x>;tag=1" <sip:bob@demo.local>;tag=2';
    expect(parseSipUri(from)).to.include({ user: 'bob', host: 'demo.local' });
    expect(displayName(from)).to.equal('"<sip:eve@x>;tag=1');
  });

  it('are parsed without a user, with an IPv6 host, and as tel', () => {
    expect(parseSipUri('sip:[::1]:5060')).to.include({ user: '', host: '[::1]', port: 5060 });
    expect(parseSipUri('tel:+123')).to.include({ scheme: 'tel', user: '+123' });
    expect(parseSipUri('tel:+1-(201).555;phone-context=x')).to.include({ scheme: 'tel', user: '+1201555' });
  });

  it('are undefined when invalid', () => {
    expect(parseSipUri('http://demo.local')).to.equal(undefined);
    expect(parseSipUri('')).to.equal(undefined);
    expect(parseSipUri('sip:%FF@demo.local')).to.equal(undefined);
  });

  it('are unchanged by printing and parsing, with any user part', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), (user) => {
        fc.pre(!user.includes(';') && !user.includes(':') && user.isWellFormed());
        expect(parseSipUri(bracketUri(user, 'demo.local'))?.user).to.equal(user);
      }),
    );
  });

  it('cannot be broken by a display name', () => {
    expect(nameAddr('x" <sip:evil@y>\r\nEvil: 1', '101', 'demo.local')).to.equal(
      '"x\\" <sip:evil@y> Evil: 1" <sip:101@demo.local>',
    );
    expect(nameAddr('', '101', 'demo.local')).to.equal('<sip:101@demo.local>');
  });
});
