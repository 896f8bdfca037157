import { expect } from 'chai';
import { masked } from '../../runtime/ladder/masked.ts';

const message = (headers: readonly string[], body = '') =>
  `INVITE sip:102@demo.local SIP/2.0\r\n${headers.join('\r\n')}\r\n\r\n${body}`;

describe('SIP messages without secrets', () => {
  it('have no digest responses, nonces and other credentials', () => {
    const shown = masked(
      message([
        'Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1',
        'Authorization: Digest username="alice", realm="demo.local", nonce="S1", uri="sip:x", response="S2", algorithm=MD5',
        'proxy-authorization : Digest username="alice",\r\n nonce="S3",response=S4, cnonce="S5"',
        'WWW-Authenticate: Digest realm="demo.local", nonce="S6", opaque="S7", stale=TRUE',
        'Proxy-Authenticate: Digest realm="demo.local", nonce="S8"',
        'Authentication-Info: nextnonce="S9", rspauth="S10"',
        'Authorization: Bearer S11',
        'Call-ID: response="kept"',
      ]),
    );
    expect(shown).not.to.match(/S\d/);
    for (const kept of [
      'username="alice"',
      'realm="demo.local"',
      'algorithm=MD5',
      'stale=TRUE',
      'branch=z9hG4bK1',
      'response="kept"',
    ])
      expect(shown).to.include(kept);
    expect(shown).to.include('response="***"').and.include('Authorization: Bearer ***\r\n');
  });

  it('have no digits in INFO, and bodies keep their length', () => {
    const relay = 'Signal=5\r\nDuration=160\r\n';
    expect(masked(message(['Content-Type: application/dtmf-relay'], relay))).to.match(/Signal=\*\r\nDuration=160\r\n$/);
    expect(masked(message(['c: application/dtmf'], '5'))).to.match(/\r\n\r\n\*$/);
    const nortel = masked(
      message(['Content-Type: application/vnd.nortelnetworks.digits'], 'p=Digit-Collection\r\nd=11\r\n'),
    );
    expect(nortel).to.match(/p=Digit-Collection\r\nd=\*\*\r\n$/);
    expect(masked(message(['Content-Type: text/plain'], relay))).to.include('Signal=5');
  });

  it('have no keys of media, and bodies keep their length', () => {
    const sdp =
      'v=0\r\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:d0RmdmcmVCspeEc3QGZiNWpVLFJh|2^20\r\na=ice-pwd:asd88fgpdd777\r\n';
    const shown = masked(message(['Content-Type: application/sdp'], sdp));
    expect(shown).to.include('inline:****').and.include('|2^20').and.not.include('asd88').and.not.include('d0Rm');
    expect(shown).to.have.length(message(['Content-Type: application/sdp'], sdp).length);
  });
});
