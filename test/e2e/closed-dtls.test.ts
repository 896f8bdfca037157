import { expect } from 'chai';
import type { Browser } from 'puppeteer-core';
import { launchChromium } from '../phones/chromium.ts';
import type { IncomingCall } from '../phones/incoming-call.ts';
import { ChromiumPeer } from '../phones/media/chromium-peer.ts';
import { DtlsPeer, forgedAlert } from '../phones/media/dtls-peer.ts';
import type { OutgoingCall } from '../phones/outgoing-call.ts';
import { requirePeer } from '../phones/peers.ts';
import { eventually } from '../support/eventually.ts';
import { REAL_MEDIA } from '../support/real-servers.ts';
import { useStage } from '../support/stage.ts';

/** A phone whose session descriptions are a peer's. */
const TOLERATED = { tolerates: /SDP|RTP|bytes|browser.invalid/ };

const CLOSED = 'the far end closed DTLS, and sent nothing more';

/** Milliseconds until a call ends whose far end closed DTLS, or has vanished; and a margin. */
const CLOSED_MS = 5000;
const CONSENT_MS = 30_000;
const SOON_MS = 4000;

interface Talk {
  readonly outgoing: OutgoingCall;
  readonly incoming: IncomingCall;
}

describe('a far end that closes DTLS (close_notify)', () => {
  const stage = useStage();
  const closings: (() => unknown)[] = [];
  let chromium: Browser | undefined;

  before(function () {
    // FreeSWITCH has media time-outs of its own.
    if (REAL_MEDIA) this.skip();
  });
  after(() => chromium?.close());
  afterEach(() => Promise.all(closings.splice(0).map((close) => close())));

  /** Alice's phone is a peer with DTLS, talks with bob, and hears him. */
  async function talkOf(peer: Pick<DtlsPeer | ChromiumPeer, 'offer' | 'takeAnswer' | 'hears'>): Promise<Talk> {
    const offer = await peer.offer();
    const heard: string[] = [];
    const describes = (): string => offer;
    const receives = (sdp: string): void => void heard.push(sdp);
    const alice = await stage.phone('alice', { ...TOLERATED, describes, receives });
    const bob = await stage.phone('bob');
    const outgoing = await alice.call('102');
    const incoming = await bob.incoming();
    await incoming.answer();
    await outgoing.answered();
    await peer.takeAnswer(heard.at(-1) ?? '');
    incoming.play(620);
    await Promise.all([peer.hears(620), incoming.hears(440, { withinMs: 20_000 })]);
    return { outgoing, incoming };
  }

  async function dtlsPeer(): Promise<DtlsPeer> {
    const peer = await DtlsPeer.open();
    closings.push(() => peer.close());
    return peer;
  }

  /** Both phones get a BYE soon after `ms`, and the log has the reason. */
  async function expectEnd({ outgoing, incoming }: Talk, reason: string, ms: number): Promise<void> {
    const ends = await Promise.all([outgoing.ended(ms + SOON_MS), incoming.ended(ms + SOON_MS)]);
    expect(ends.map(({ by }) => by)).to.deep.equal(['there', 'there']);
    await eventually(async () => void expect(stage.node.output).to.contain(reason));
  }

  it('and is silent then ends its call after 5 s', async () => {
    const peer = await dtlsPeer();
    const talk = await talkOf(peer);
    const at = performance.now();
    peer.fallSilent();
    peer.inject(peer.closingAlert());
    await expectEnd(talk, CLOSED, CLOSED_MS);
    expect(performance.now() - at).to.be.greaterThan(CLOSED_MS - 100);
  });

  it('and goes on sending keeps its call', async () => {
    const peer = await dtlsPeer();
    const { outgoing, incoming } = await talkOf(peer);
    peer.inject(peer.closingAlert());
    await incoming.hearsNot(1234, { forMs: CLOSED_MS + 1000 });
    await incoming.hears(440);
    await outgoing.hangup();
  });

  it('is not believed without its keys: a silent far end keeps its call when others close DTLS', async () => {
    const peer = await dtlsPeer();
    const { outgoing, incoming } = await talkOf(peer);
    const sealed = peer.closingAlert();
    const broken = Buffer.from(sealed);
    broken.writeUInt8(broken.readUInt8(broken.length - 1) ^ 1, broken.length - 1);
    peer.fallSilent();
    for (const alert of [
      forgedAlert(0),
      forgedAlert(1),
      forgedAlert(0, Buffer.of(2, 40)),
      forgedAlert(1, Buffer.alloc(26)),
      broken,
      sealed.subarray(0, 20),
    ])
      peer.inject(alert);
    await incoming.hearsNot(1234, { forMs: CLOSED_MS + 1000 });
    expect([outgoing.live, incoming.live]).to.deep.equal([true, true]);
    await outgoing.hangup();
  });

  it('is not believed while the handshake goes on', async () => {
    const peer = await dtlsPeer();
    peer.beforeHandshake = () => {
      for (const alert of [forgedAlert(0), forgedAlert(1), forgedAlert(0, Buffer.of(2, 40))]) peer.inject(alert);
    };
    const { outgoing } = await talkOf(peer);
    await outgoing.hangup();
  });

  async function chromiumPeer(program: string): Promise<ChromiumPeer> {
    chromium ??= await launchChromium(program);
    return ChromiumPeer.open(chromium);
  }

  it('is Chromium that closes its connection without a word by SIP: its call ends after 5 s', async function () {
    const peer = await chromiumPeer(requirePeer(this, 'chromium'));
    const talk = await talkOf(peer);
    await peer.disconnect();
    await expectEnd(talk, CLOSED, CLOSED_MS);
    await peer.close();
  });

  it('and Chromium whose page is closed sends nothing at all: its call ends after 30 s', async function () {
    this.timeout(90_000);
    const peer = await chromiumPeer(requirePeer(this, 'chromium'));
    const talk = await talkOf(peer);
    // Until it repeats its checks.
    await talk.incoming.hearsNot(1234, { forMs: 10_000 });
    await peer.close();
    await expectEnd(talk, 'the far end has sent neither checks nor sound for 30 s', CONSENT_MS);
  });
});
