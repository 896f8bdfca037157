import { expect } from 'chai';
import type { Browser } from 'puppeteer-core';
import { launchChromium } from '../phones/chromium.ts';
import { ChromiumPeer } from '../phones/media/chromium-peer.ts';
import { WebRtcPeer } from '../phones/media/webrtc-peer.ts';
import type { OutgoingCall } from '../phones/outgoing-call.ts';
import { findProgram } from '../phones/peers.ts';
import { eventually } from '../support/eventually.ts';
import { REAL_MEDIA } from '../support/real-servers.ts';
import { useStage } from '../support/stage.ts';

/** A far end with ICE and DTLS: it sends 440 Hz at first. */
type Peer = Pick<WebRtcPeer | ChromiumPeer, 'offer' | 'takeAnswer' | 'answer' | 'hears' | 'play' | 'close'>;

/** A phone by SIP, whose session descriptions are a peer's. */
const TOLERATED = { tolerates: /SDP|RTP|bytes|browser.invalid/ };

describe('media of browsers: ICE, and keys by DTLS', () => {
  const stage = useStage();
  const peers: Peer[] = [];
  let chromium: Browser | undefined;

  after(() => chromium?.close());
  afterEach(() => Promise.all(peers.splice(0).map((each) => each.close())));

  function werift(): WebRtcPeer {
    const made = new WebRtcPeer();
    peers.push(made);
    return made;
  }

  async function browser(program: string): Promise<ChromiumPeer> {
    chromium ??= await launchChromium(program);
    const made = await ChromiumPeer.open(chromium);
    peers.push(made);
    return made;
  }

  /** The peer calls a number as alice; `answer` is what it got. */
  async function call(peer: Peer, number: string, change = (sdp: string): string => sdp) {
    const offer = change(await peer.offer());
    const heard: string[] = [];
    const alice = await stage.phone('alice', {
      ...TOLERATED,
      describes: () => offer,
      receives: (sdp) => void heard.push(sdp),
    });
    return { outgoing: await alice.call(number), answer: () => heard.at(-1) ?? '' };
  }

  /** @param codec that the peer gets */
  async function talks(peer: Peer, codec = /^a=rtpmap:\d+ /m): Promise<void> {
    const bob = await stage.phone('bob');
    const { outgoing, answer } = await call(peer, '102');
    const incoming = await bob.incoming();
    await incoming.answer();
    await outgoing.answered();
    expect(answer())
      .to.match(/^m=audio [1-9]\d* UDP\/TLS\/RTP\/SAVPF /m)
      .and.match(/^a=mid:/m)
      .and.match(codec);
    await peer.takeAnswer(answer());
    incoming.play(620);
    await Promise.all([peer.hears(620), incoming.hears(440, { withinMs: 20_000 })]);
    await outgoing.hangup();
  }

  /** Bob's phone is the peer, by a contact over WebSocket. */
  async function isCalled(peer: Peer): Promise<void> {
    const bob = await stage.phone('bob', { ...TOLERATED, websocketContact: true });
    const outgoing = await (await stage.phone('alice')).call('102');
    const incoming = await bob.incoming();
    expect(incoming.invite.body).to.match(/^m=audio [1-9]\d* UDP\/TLS\/RTP\/SAVPF /m);
    await incoming.answer(5000, await peer.answer(incoming.invite.body));
    await outgoing.answered();
    outgoing.play(620);
    await Promise.all([peer.hears(620), outgoing.hears(440, { withinMs: 20_000 })]);
    await outgoing.hangup();
  }

  const expectLogged = (text: string): Promise<void> =>
    eventually(async () => void expect(stage.node.output).to.contain(text));

  it('an offer is answered in kind, and talks to a plain phone both ways', () => talks(werift()));

  it('a phone behind WebSocket is offered it, and talks to a plain phone both ways', () => isCalled(werift()));

  it('Chromium calls a plain phone, and both hear each other', async function () {
    this.timeout(60_000);
    await talks(await browser(findProgram('chromium') ?? this.skip()), /^a=rtpmap:111 opus\/48000\/2\r$/m);
  });

  it('Chromium is called by a plain phone, and both hear each other', async function () {
    this.timeout(60_000);
    await isCalled(await browser(findProgram('chromium') ?? this.skip()));
  });

  /** The echo scenario would send the peer's own tone back. */
  async function failsWith(reason: string, change: (sdp: string) => string): Promise<void> {
    const peer = werift();
    const { outgoing, answer }: { outgoing: OutgoingCall; answer: () => string } = await call(peer, '501', change);
    await outgoing.answered();
    await peer.takeAnswer(answer());
    expect((await outgoing.ended()).by).to.equal('there');
    // FreeSWITCH tells its own log alone.
    if (!REAL_MEDIA) await expectLogged(reason);
  }

  it('a certificate without the announced fingerprint ends the call, with a reason in the log', () =>
    failsWith('the certificate does not have the fingerprint of the session description', (sdp) =>
      sdp.replace(/(a=fingerprint:sha-256 )\S+/, `$1${Array.from({ length: 32 }, () => 'AB').join(':')}`),
    ));

  for (const [what, change, reason] of [
    ['no fingerprint', (sdp: string) => sdp.replace(/^a=fingerprint.*\r\n/m, ''), 'it has no a=fingerprint'],
    ['a fingerprint of SHA-1', (sdp: string) => sdp.replace('sha-256', 'sha-1'), 'of another hash than SHA-256'],
    // FreeSWITCH crashes at it.
    ['a fingerprint of SHA-384', (sdp: string) => sdp.replace('sha-256', 'sha-384'), 'of another hash than SHA-256'],
    ['a=setup:passive', (sdp: string) => sdp.replace('actpass', 'passive'), 'a=setup:passive, but'],
  ] as const) {
    it(`an offer with ${what} is refused with 488 and a reason in the log`, async () => {
      const { outgoing } = await call(werift(), '501', change);
      expect(await outgoing.ended()).to.include({ status: 488, reason: 'No Usable Key For Encrypted Media' });
      await expectLogged(reason);
    });
  }

  it('a far end whose checks never come is in the log, and gets no sound', async function () {
    // FreeSWITCH counts none of it.
    if (REAL_MEDIA) this.skip();
    const { outgoing } = await call(werift(), '501');
    await outgoing.answered();
    await outgoing.hangup();
    await expectLogged('ICE did not complete');
  });
});
