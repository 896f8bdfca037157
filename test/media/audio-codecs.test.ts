import { expect } from 'chai';
import { audioCodecs, listedCodecs } from '../../runtime/media/audio-codecs.ts';

describe('media: codecs of a session description', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['m=audio 4000 RTP/AVP 0 8 101\r\na=rtpmap:101 telephone-event/8000\r\n', ['PCMU', 'PCMA', 'TELEPHONE-EVENT']],
    ['m=audio 4000/2 RTP/AVPF 96 18\na=rtpmap:96 pcmu/8000\n', ['PCMU', 'G729']],
    ['m=audio 4000 RTP/AVP 0\r\na=rtpmap:0 G729/8000\r\n', ['G729']],
    ['m=audio 4000 RTP/AVP 96\r\nm=video 5000 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n', []],
    ['m=audio 4000 RTP/AVP 9\r\nm=audio 4002 RTP/AVP 8\r\n', ['G722', 'PCMA']],
    ['m=audio 0 RTP/AVP 0\r\nm=image 4000 udptl t38\r\n', []],
    ['', []],
  ];
  for (const [media, codecs] of cases) {
    it(`${JSON.stringify(media)}: ${codecs.join(', ') || 'none'}`, () => {
      expect([...audioCodecs(`v=0\r\n${media}`)]).to.deep.equal(codecs);
    });
  }

  it('are read from a list of FreeSWITCH', () => {
    const list = 'PCMU,PCMA@8000h@20i, opus@48000h,CORE_PCM_MODULE.L16@8000h@20i,';
    expect([...listedCodecs(list)]).to.deep.equal(['PCMU', 'PCMA', 'OPUS', 'L16']);
    expect([...listedCodecs('')]).to.deep.equal([]);
  });
});
