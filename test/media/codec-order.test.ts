import { expect } from 'chai';
import { bestCodec, codecWish, inWantedOrder, withBestCodec } from '../../runtime/media/codec-order.ts';
import { MediaError } from '../../runtime/media/media-error.ts';

const sdp = (formats: string, ...lines: readonly string[]): string =>
  [
    'v=0',
    'o=- 1 1 IN IP4 127.0.0.1',
    's=-',
    'c=IN IP4 127.0.0.1',
    't=0 0',
    `m=audio 4000 RTP/AVP ${formats}`,
    ...lines.map((line) => `a=${line}`),
    'a=ptime:20',
    '',
  ].join('\r\n');

const WIDE = sdp(
  '0 8 9 111 101 110 18',
  'rtpmap:111 opus/48000/2',
  'fmtp:111 useinbandfec=1',
  'rtcp-fb:111 nack',
  'rtpmap:101 telephone-event/8000',
  'fmtp:101 0-15',
  'rtpmap:110 telephone-event/48000',
  'rtpmap:18 G729/8000',
);

const formats = (text: string): string | undefined => /^m=audio \d+ \S+ (.*)\r$/m.exec(text)?.[1];

describe('codec order', () => {
  it('nothing changes where no codecs are wanted', () => {
    expect(withBestCodec(WIDE, undefined)).to.equal(WIDE);
    expect(inWantedOrder(WIDE, undefined)).to.equal(WIDE);
    expect(codecWish(undefined)).to.equal(undefined);
  });

  it('the media server sees the best codec alone, with the telephone-events of its clock', () => {
    const opus = withBestCodec(WIDE, codecWish(['opus', 'PCMA']));
    expect(formats(opus)).to.equal('111 110');
    expect(opus).to.contain('a=fmtp:111 useinbandfec=1\r\n').and.not.to.contain('telephone-event/8000');
    const pcma = withBestCodec(WIDE, codecWish(['PCMA', 'opus']));
    expect(formats(pcma)).to.equal('8 101');
    expect(pcma).not.to.match(/opus|:111|48000|G729/);
    expect(pcma).to.contain('a=ptime:20\r\n');
    const other = sdp('111 101', 'rtpmap:111 opus/48000/2', 'rtpmap:101 telephone-event/8000');
    expect(formats(withBestCodec(other, codecWish(['opus'])))).to.equal('111 101');
  });

  it('a description without a wanted codec is refused, unless others are allowed', () => {
    expect(() => withBestCodec(sdp('18'), codecWish(['PCMU', 'G722'])))
      .to.throw(MediaError, 'the phone has none of the codecs PCMU, G722')
      .with.property('status', 488);
    expect(withBestCodec(sdp('18'), codecWish(undefined, 'PCMU'))).to.equal(sdp('18'));
  });

  it('an offer has the wanted codecs in their order, the caller’s first', () => {
    expect(formats(inWantedOrder(WIDE, codecWish(['PCMA', 'G722'])))).to.equal('8 9 101');
    expect(formats(inWantedOrder(WIDE, codecWish(['PCMA', 'opus'], 'opus')))).to.equal('111 8 101 110');
    expect(formats(inWantedOrder(WIDE, codecWish(undefined, 'PCMU')))).to.equal('0 111 9 8 101 110 18');
    expect(formats(inWantedOrder(WIDE, codecWish(['G722'], 'PCMU')))).to.equal('9 101');
  });

  it('streams that are refused or no audio stay as they are', () => {
    const two = `${WIDE}m=video 0 RTP/AVP 96\r\na=rtpmap:96 VP8/90000\r\nm=audio 0 RTP/AVP 0\r\n`;
    expect(withBestCodec(two, codecWish(['G722']))).to.contain(
      'm=video 0 RTP/AVP 96\r\na=rtpmap:96 VP8/90000\r\nm=audio 0 RTP/AVP 0',
    );
  });

  it('the codec of a call is known from its descriptions', () => {
    expect(bestCodec(WIDE, undefined)).to.equal('opus');
    expect(bestCodec(WIDE, codecWish(['PCMA', 'PCMU']))).to.equal('PCMA');
    expect(bestCodec(sdp('18'), undefined)).to.equal(undefined);
    expect(bestCodec('v=0', undefined)).to.equal(undefined);
  });
});
