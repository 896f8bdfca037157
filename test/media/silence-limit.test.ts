import { expect } from 'chai';
import { SilenceLimit } from '../../runtime/media/silence-limit.ts';

const sdp = (direction: string) =>
  `v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\na=${direction}\r\n`;
const limitOf = (variable: string | undefined) => Number(/^media_timeout_audio (\d+)$/.exec(variable ?? '')?.[1]);

describe('silence limit of a far end', () => {
  it('applies from the start, without commands while the far end talks', () => {
    for (const first of [undefined, sdp('sendrecv')]) {
      const silence = new SilenceLimit(2000, first);
      expect(silence.headers).to.deep.equal({ 'X-Media-Timeout': '2000' });
      expect(silence.variableFor(sdp('sendrecv'))).to.equal(undefined);
    }
  });

  it('is days while the far end holds or only listens, and the normal limit afterwards', () => {
    for (const direction of ['sendonly', 'inactive', 'recvonly']) {
      const silence = new SilenceLimit(2000, sdp('sendrecv'));
      expect(limitOf(silence.variableFor(sdp(direction)))).to.be.greaterThan(86_400_000);
      expect(silence.variableFor(sdp('inactive'))).to.equal(undefined);
      expect(limitOf(silence.variableFor(sdp('sendrecv')))).to.equal(2000);
    }
  });

  it('is set later when the first description only listened', () => {
    const silence = new SilenceLimit(2000, sdp('recvonly'));
    expect(silence.headers).to.deep.equal({});
    expect(limitOf(silence.variableFor(sdp('sendrecv')))).to.equal(2000);
  });

  it('is unlimited by configuration', () => {
    const silence = new SilenceLimit(0, undefined);
    expect(silence.headers).to.deep.equal({});
    expect(silence.variableFor(sdp('inactive'))).to.equal(undefined);
  });
});
