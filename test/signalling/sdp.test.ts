import { expect } from 'chai';
import { sdpDirection } from '../../runtime/signalling/sdp.ts';

const sdp = (...lines: string[]) => ['v=0', 'o=- 1 1 IN IP4 192.0.2.1', 's=-', ...lines, ''].join('\r\n');

describe('the direction of a session description', () => {
  it('is sendrecv when nothing is said', () => {
    expect(sdpDirection(sdp('c=IN IP4 192.0.2.1', 't=0 0', 'm=audio 4000 RTP/AVP 0'))).to.equal('sendrecv');
  });

  it('is that of the audio stream before that of the session', () => {
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
