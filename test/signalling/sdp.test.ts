import { expect } from 'chai';
import { LocalDescription } from '../../runtime/signalling/sdp.ts';
import { sdpDirection } from '../../runtime/sip-facts/sdp-direction.ts';

const sdp = (...lines: string[]) => ['v=0', 'o=- 1 1 IN IP4 192.0.2.1', 's=-', ...lines, ''].join('\r\n');

describe('the direction of a session description', () => {
  it('defaults to sendrecv', () => {
    expect(sdpDirection(sdp('c=IN IP4 192.0.2.1', 't=0 0', 'm=audio 4000 RTP/AVP 0'))).to.equal('sendrecv');
  });

  it('is that of the audio stream rather than of the session', () => {
    expect(sdpDirection(sdp('a=inactive', 'm=audio 4000 RTP/AVP 0', 'a=sendonly'))).to.equal('sendonly');
    expect(sdpDirection(sdp('a=inactive', 'm=audio 4000 RTP/AVP 0'))).to.equal('inactive');
  });

  it('is not that of a second stream', () => {
    expect(sdpDirection(sdp('m=audio 4000 RTP/AVP 0', 'm=video 4002 RTP/AVP 96', 'a=inactive'))).to.equal('sendrecv');
  });

  it('is inactive with the address 0.0.0.0', () => {
    expect(sdpDirection(sdp('c=IN IP4 0.0.0.0', 'm=audio 4000 RTP/AVP 0'))).to.equal('inactive');
    expect(sdpDirection(sdp('c=IN IP4 192.0.2.1', 'm=audio 4000 RTP/AVP 0', 'c=IN IP4 0.0.0.0'))).to.equal('inactive');
  });
});

describe('our description of a session', () => {
  const of = (version: number, port: number) =>
    `v=0\r\no=FreeSWITCH 17 ${version} IN IP4 192.0.2.1\r\ns=-\r\nm=audio ${port} RTP/AVP 0\r\n`;
  const origin = (text: string) => /^o=- (\d+) (\d+) IN IP4 192\.0\.2\.1$/m.exec(text)?.slice(1).map(Number);

  it('keeps its id, and its version while unchanged', () => {
    const ours = new LocalDescription({ id: 1_700_000_000_000, version: 0 });
    const first = origin(ours.of(of(1, 4000)));
    expect(first?.[0]).to.equal(1_700_000_000_000);
    // The media server counts as it likes.
    expect(origin(ours.of(of(9, 4000)))).to.deep.equal(first);
  });

  it('has the next version after a change', () => {
    const ours = new LocalDescription();
    const [, version = 0] = origin(ours.of(of(1, 4000))) ?? [];
    expect(origin(ours.of(of(1, 4002)))?.[1]).to.equal(version + 1);
    expect(origin(ours.of(of(1, 4000)))?.[1]).to.equal(version + 2);
  });
});
