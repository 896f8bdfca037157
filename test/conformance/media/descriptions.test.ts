import { expect } from 'chai';
import { text } from '../support/fsmrf.ts';
import { fallsSilent, useMediaStage } from '../support/media-stage.ts';
import { sdp } from '../support/sdp.ts';

/** The status of a refusal; undefined without one. */
async function refusalOf(attempt: Promise<unknown>): Promise<number | undefined> {
  return attempt.then(
    () => undefined,
    (error: unknown) => (error as { status?: number }).status,
  );
}

const OFFER = sdp(41_000);
const G729 = OFFER.replace('RTP/AVP 0 101', 'RTP/AVP 18').replace('a=rtpmap:0 PCMU', 'a=rtpmap:18 G729');
const KEY = 'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz\r\n';

describe('Conformance, media server: session descriptions of phones', () => {
  const stage = useMediaStage();

  const localSdp = async (remoteSdp: string): Promise<string> =>
    stage.keep(await stage.media.createEndpoint({ remoteSdp })).local.sdp;

  for (const [what, offer] of [
    ['of another payload type', OFFER.replaceAll('101', '96')],
    [
      'beside one of another clock rate',
      OFFER.replace('0 101', '0 97 96').replace('a=rtpmap:101', 'a=rtpmap:97 telephone-event/48000\r\na=rtpmap:96'),
    ],
    [
      'of another clock rate alone',
      OFFER.replaceAll('101', '96').replace('telephone-event/8000', 'telephone-event/48000'),
    ],
  ] as const) {
    it(`accepts telephone-events ${what}`, async () => {
      expect(await localSdp(offer)).to.match(
        /^m=audio \d+ RTP\/AVP 0 96\r?\na=rtpmap:0 PCMU\/8000\r?\na=rtpmap:96 telephone-event\/8000/m,
      );
    });
  }

  it('answers without telephone-events and comfort noise when the offer lacks them', async () => {
    const offer = OFFER.replace('0 101', '0 13').replace('a=rtpmap:101 telephone-event', 'a=rtpmap:13 CN');
    expect(await localSdp(offer)).to.match(/^m=audio \d+ RTP\/AVP 0\r?$/m);
  });

  it('accepts a number of ports, and lines that end without CR', async () => {
    expect(await localSdp(OFFER.replace('m=audio 41000', 'm=audio 41000/2'))).to.match(
      /^m=audio [1-9]\d* RTP\/AVP 0 101/m,
    );
    expect(await localSdp(OFFER.replaceAll('\r\n', '\n'))).to.match(/^m=audio [1-9]\d* RTP\/AVP 0 101/m);
  });

  it('uses the second stream when the first has no common codec', async () => {
    const answer = await localSdp(`${G729}m=audio 41002 RTP/AVP 8\r\n`);
    expect(answer).to.match(/^m=audio [1-9]\d* RTP\/AVP 8\r?\na=rtpmap:8 PCMA\/8000/m);
  });

  it('refuses an SDES key on an unencrypted stream with 488', async () => {
    expect(await refusalOf(stage.media.createEndpoint({ remoteSdp: OFFER + KEY }))).to.equal(488);
  });

  for (const line of ['c=IN IP4 127.0.0.1\r\n', 'o=app 1001 1 IN IP4 127.0.0.1\r\n']) {
    it(`refuses a description without ${line.slice(0, 2)} with 400`, async () => {
      expect(await refusalOf(stage.media.createEndpoint({ remoteSdp: OFFER.replace(line, '') }))).to.equal(400);
    });
  }

  it('refuses a re-INVITE without a common codec or with keys with 488, and the sound continues', async () => {
    for (const offer of [G729, OFFER + KEY]) {
      const { call, endpoint } = await stage.connect();
      expect(await refusalOf(endpoint.dialog.modify(offer))).to.equal(488);
      const playing = endpoint.play('tone_stream://%(10000,0,600)');
      await call.hears(600);
      await endpoint.api('uuid_break', endpoint.uuid);
      await playing;
      await fallsSilent(call, 600);
    }
  });

  it('ends the media of an endpoint whose later far end has no common codec', async () => {
    const endpoint = stage.keep(await stage.media.createEndpoint());
    expect(await endpoint.modify(G729)).to.match(/^m=audio 0 RTP\/AVP /m);
    expect(text(await endpoint.api('uuid_exists', endpoint.uuid))).to.equal('true');
  });

  for (const [theirs, ours] of [
    ['sendonly', 'recvonly'],
    ['recvonly', 'sendonly'],
    ['inactive', 'inactive'],
  ] as const) {
    it(`has the direction ${ours} towards a far end with ${theirs}`, async () => {
      const remoteSdp = sdp(41_000, 1, theirs);
      const endpoint = stage.keep(await stage.media.createEndpoint({ remoteSdp }));
      const shown = await endpoint.getChannelVariables(true);
      expect(shown['variable_audio_media_flow']).to.equal(ours);
      expect(shown['variable_remote_audio_media_flow']).to.equal(theirs);
    });
  }
});
