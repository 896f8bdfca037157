import { expect } from 'chai';
import { farEndSdp, inProfileOf } from '../../runtime/media/far-end-sdp.ts';
import { MediaError } from '../../runtime/media/media-error.ts';

describe('media: the profile of an answer', () => {
  const offer = 'v=0\r\nm=video 0 RTP/SAVPF 96\r\nm=audio 4000 RTP/AVPF 0\r\n';

  it('equals the offered one, also when the answer omits streams', () => {
    const answer = 'v=0\r\nm=audio 5000 RTP/AVP 0\r\nm=video 0 RTP/AVP 96\r\n';
    expect(inProfileOf(offer, answer)).to.equal('v=0\r\nm=audio 5000 RTP/AVPF 0\r\nm=video 0 RTP/AVP 96\r\n');
    expect(inProfileOf('v=0\r\nm=audio 4000 RTP/AVP 0\r\n', answer)).to.equal(answer);
  });

  it('is the plain one for the media server', () => {
    expect(farEndSdp(offer)).to.equal('v=0\r\nm=video 0 RTP/SAVPF 96\r\nm=audio 4000 RTP/AVP 0\r\n');
  });

  it('is unchanged without offered audio', () => {
    const answer = 'v=0\r\nm=audio 0 RTP/AVP 0\r\n';
    expect(inProfileOf('v=0\r\nm=audio 0 RTP/AVPF 0\r\n', answer)).to.equal(answer);
    expect(inProfileOf('', answer)).to.equal(answer);
  });
});

describe('media: text that is no session description', () => {
  it('is refused before the media server is asked', () => {
    for (const text of ['', 'o=- 1 1 IN IP4 127.0.0.1\r\nm=audio 4000 RTP/AVP 0\r\n', ' v=0\r\n'])
      expect(() => farEndSdp(text))
        .to.throw(MediaError, 'does not begin with v=0')
        .with.property('status', 488);
  });
});

describe('media: free text of a session description', () => {
  it('has no octets for the media server that drachtio-modesl cannot decode', () => {
    expect(farEndSdp('v=0\r\ns=%FF%fe 50% %\r\ni=\u00b4\u{1f4de}\r\n')).to.equal('v=0\r\ns=?FF?fe 50% %\r\ni=???\r\n');
  });
});

describe('media: fingerprints for the media server', () => {
  const good = `a=fingerprint:sha-256 ${Array.from({ length: 32 }, () => 'AB').join(':')}\r\n`;
  const head = 'v=0\r\nc=IN IP4 127.0.0.1\r\n';

  it('are of hashes that FreeSWITCH knows, wherever and however others are written: it crashes at those', () => {
    for (const other of ['sha-384 AB:CD', 'sha-1 AB', 'SHA-384 AB', 'nonsense']) {
      const offer = `${head}a=x\ra=fingerprint:${other}\ra=y\r\nm=audio 4000 UDP/TLS/RTP/SAVPF 0\r\n${good}a=setup:actpass\r\na=fingerprint:${other}`;
      expect(farEndSdp(offer).match(/^a=fingerprint.*/gm), other).to.deep.equal([good.trim()]);
      const plain = `${head}a=x\ra=fingerprint:${other}\ra=y\r\nm=audio 4000 RTP/AVP 0\r\na=fingerprint:${other}`;
      expect(farEndSdp(plain), other).not.to.include('fingerprint');
    }
  });
});
