import { expect } from 'chai';
import { WebRtcPeer } from '../../phones/media/webrtc-peer.ts';
import { REAL_MEDIA } from '../../support/real-servers.ts';
import type { Endpoint } from '../support/fsmrf.ts';
import { useMediaStage } from '../support/media-stage.ts';

/** How long a called far end rings. FreeSWITCH would check itself, and fail, within a second. */
const RINGING_MS = 2500;

const KEYS = 'X-Secure-Media';

const inProfile = (sdp: string, change: (profile: string) => string): string =>
  sdp.replace(/^(m=audio \d+ )(\S+)/m, (_line, begin: string, profile: string) => begin + change(profile));

/** drachtio-fsmrf refuses the profile in capitals. */
const forServer = (sdp: string): string => inProfile(sdp, (profile) => profile.toLowerCase());

/** In capitals, and with the name of the stream, which FreeSWITCH leaves out, and the far end asks for. */
const forFarEnd = (sdp: string): string =>
  inProfile(/^a=mid:/m.test(sdp) ? sdp : `${sdp}a=mid:0\r\n`, (profile) => profile.toUpperCase());

describe('Conformance, media server: far ends with ICE and keys by DTLS', () => {
  const stage = useMediaStage();
  const peers: WebRtcPeer[] = [];

  afterEach(() => Promise.all(peers.splice(0).map((peer) => peer.close())));

  /** A far end that sends 440 Hz. */
  function farEnd(): WebRtcPeer {
    const peer = new WebRtcPeer();
    peers.push(peer);
    return peer;
  }

  async function answering(offer: string): Promise<Endpoint> {
    const options = { remoteSdp: forServer(offer), headers: { [KEYS]: 'dtls@keys' } };
    return stage.keep(await stage.media.createEndpoint(options));
  }

  /** The peer and a phone hear each other. */
  async function expectTalk(peer: WebRtcPeer, endpoint: Endpoint): Promise<void> {
    const phone = await stage.connect();
    await endpoint.bridge(phone.endpoint);
    phone.call.play(620);
    await Promise.all([peer.hears(620), phone.call.hears(440, { withinMs: 20_000 })]);
  }

  function expectDescribed(sdp: string): void {
    expect(sdp)
      .to.match(/^m=audio [1-9]\d* (?:UDP\/TLS\/)?RTP\/SAVPF /im)
      .and.match(/^a=rtcp-mux\r?$/m)
      .and.match(/^a=fingerprint:sha-256 /m)
      .and.match(/^a=candidate:\S+ 1 udp \d+ 127\.0\.0\.1 [1-9]\d* typ host/m)
      .and.not.match(/^a=crypto:/m);
  }

  it('an offer is answered, and sound goes both ways', async () => {
    const peer = farEnd();
    const endpoint = await answering(await peer.offer());
    expectDescribed(endpoint.local.sdp);
    await peer.takeAnswer(forFarEnd(endpoint.local.sdp));
    await expectTalk(peer, endpoint);
  });

  it('an endpoint that is made without a far end offers it, and sound goes both ways after the answer', async () => {
    const endpoint = stage.keep(await stage.media.createEndpoint({ headers: { [KEYS]: 'offer-dtls@keys' } }));
    expectDescribed(endpoint.local.sdp);
    expect(endpoint.local.sdp).to.match(/^a=ice-lite\r?$/m);
    expect(lineOf(endpoint.local.sdp, 'setup')).to.equal('actpass');
    await elapsed(RINGING_MS);
    const peer = farEnd();
    const answer = await peer.answer(forFarEnd(endpoint.local.sdp));
    await endpoint.api('uuid_setvar', `${endpoint.uuid} ice_lite false`);
    await endpoint.modify(forServer(answer));
    await expectTalk(peer, endpoint);
  });

  it('another offer of the same far end keeps path and keys', async () => {
    const peer = farEnd();
    const endpoint = await answering(await peer.offer());
    const answer = endpoint.local.sdp;
    await peer.takeAnswer(forFarEnd(answer));
    await expectTalk(peer, endpoint);
    const again = await endpoint.modify(forServer(await peer.offer()));
    for (const line of ['ice-ufrag', 'ice-pwd', 'fingerprint', 'setup'])
      expect(lineOf(again, line), line).to.equal(lineOf(answer, line));
    await peer.takeAnswer(forFarEnd(again));
    await endpoint.unbridge();
    await expectTalk(peer, endpoint);
  });

  it('a certificate without the announced fingerprint ends the channel', async () => {
    const peer = farEnd();
    const other = Array.from({ length: 32 }, () => 'AB').join(':');
    const endpoint = await answering((await peer.offer()).replace(/(a=fingerprint:sha-256 )\S+/, `$1${other}`));
    const ended = new Promise((resolve) => endpoint.once('destroy', resolve));
    await peer.takeAnswer(forFarEnd(endpoint.local.sdp));
    await ended;
  });

  it(`is the ${REAL_MEDIA ? 'client' : 'server'} of DTLS where an offer leaves the choice`, async () => {
    const endpoint = await answering(await farEnd().offer());
    expect(lineOf(endpoint.local.sdp, 'setup')).to.equal(REAL_MEDIA ? 'active' : 'passive');
  });
});

function lineOf(sdp: string, name: string): string | undefined {
  return new RegExp(`^a=${name}:(.*?)\\r?$`, 'm').exec(sdp)?.[1];
}

function elapsed(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
