import { expect } from 'chai';
import { answeringByFirstCodec, firstCodecHeaders } from '../../runtime/media/first-codec.ts';

const OFFER =
  'v=0\r\nc=IN IP4 127.0.0.1\r\nm=audio 4000 RTP/AVP 102 0 8 101\r\na=rtpmap:102 opus/48000/2\r\na=rtpmap:101 telephone-event/8000\r\n';

interface Call {
  readonly headers: object;
  answer?(offer: string): string;
}

/** What an application object is asked for by a call with these headers. */
function called(headers: object): Call {
  const calls: Call[] = [];
  const srf = { createUAC: (_uri: string, options: Call) => calls.push(options) };
  (answeringByFirstCodec(srf) as typeof srf).createUAC('sip:drachtio@127.0.0.1', { headers });
  return calls[0] as Call;
}

describe('the offer of a channel for a called phone', () => {
  it('is answered by the first wanted codec alone, of which the media server gets no header', () => {
    const { headers, answer } = called({ 'X-Test': 'yes', ...firstCodecHeaders('PCMA') });
    expect(headers).to.deep.equal({ 'X-Test': 'yes' });
    expect(answer?.(OFFER)).to.contain('m=audio 4000 RTP/AVP 8 101\r\n').and.not.contain('opus');
  });

  it('is answered by all where the media server lacks that one, or none is wanted', () => {
    expect(called(firstCodecHeaders('G722')).answer?.(OFFER)).to.equal(OFFER);
    expect(called({ 'X-Test': 'yes', ...firstCodecHeaders(undefined) })).to.deep.equal({
      headers: { 'X-Test': 'yes' },
    });
  });
});
