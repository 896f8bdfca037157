import { expect } from 'chai';
import { Baresip } from '../phones/baresip.ts';
import { bandLevels, sweep } from '../phones/media/bands.ts';
import { CODECS, type Codec } from '../phones/media/codecs.ts';
import { requirePeer } from '../phones/peers.ts';
import { eventually } from '../support/eventually.ts';
import { type Login, useStage } from '../support/stage.ts';
import { expectCallsBothWays, expectTalk } from './expectations.ts';

/** Edges of bands, Hz. */
const BANDS = [300, 1000, 2000, 3000, 4000, 5000, 6000, 6500, 7000];

const rateOf = (codec: Codec): number => CODECS[codec].rate;

/** Heard by wideband alone. */
const HIGH = 6000;

describe('codecs of calls', () => {
  const stage = useStage();
  const changed = new Set<string>();

  /** Sets `opts.codecs` of a demo account, or of its domain, until the end of the test. */
  async function allow(owner: Login | 'domain', codecs: readonly string[]): Promise<number> {
    const rest = await stage.rest();
    const [entity, property, name] =
      owner === 'domain' ? (['domains', 'name', 'demo.local'] as const) : (['sipusers', 'login', owner] as const);
    const filter = JSON.stringify(['==', ['property', property], name]);
    const [row] = (await rest.get(`/rest/v1/domain/${entity}`, { filter })).json<{ id: string }[]>();
    const own = `/rest/v1/domain/${entity}/${row?.id}`;
    changed.add(own);
    return (await rest.send('PATCH', own, { body: { opts: { codecs } } })).status;
  }

  afterEach(async () => {
    const rest = await stage.rest();
    for (const path of changed) await rest.send('PATCH', path, { body: { opts: { codecs: null } } });
    changed.clear();
  });

  const call = async (from: readonly Codec[], to: readonly Codec[]) => {
    const [alice, bob] = [await stage.phone('alice', { codecs: from }), await stage.phone('bob', { codecs: to })];
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const called = incoming.session.remote?.codecs.find((codec) => to.includes(codec));
    return { outgoing, incoming, codecs: [outgoing.session.remote?.codecs[0], called] };
  };

  it('two phones with Opus hear 6 kHz of each other, and press keys', async () => {
    const { outgoing, incoming, codecs } = await call(['PCMU', 'OPUS'], ['OPUS', 'PCMU']);
    expect(codecs).to.deep.equal(['OPUS', 'OPUS']);
    outgoing.play(HIGH);
    incoming.play(HIGH);
    await Promise.all([outgoing.hears(HIGH, { withinMs: 10_000 }), incoming.hears(HIGH, { withinMs: 10_000 })]);
    await outgoing.sendDtmf('7');
    await incoming.receivesDtmf('7', { withinMs: 10_000 });
  });

  for (const [one, other] of [
    ['OPUS', 'G722'],
    ['G722', 'G722'],
  ] as const) {
    it(`a sweep up to 7 kHz keeps its energy in every band, from ${one} to ${other} and back`, async () => {
      const { outgoing, incoming, codecs } = await call([one], [other]);
      expect(codecs).to.deep.equal([one, other]);
      const sides = [
        { from: outgoing, to: incoming, sent: rateOf(one), heard: rateOf(other) },
        { from: incoming, to: outgoing, sent: rateOf(other), heard: rateOf(one) },
      ];
      await expectTalk(outgoing, incoming);
      for (const { from } of sides) from.play(undefined);
      for (const { to } of sides)
        await eventually(async () => Promise.all([440, 620].map((tone) => to.hearsNot(tone, { forMs: 300 }))));
      for (const { from, to, sent, heard } of sides) {
        const sound = sweep({ from: 200, to: 7200 }, 1.5, sent);
        const before = bandLevels(sound, BANDS, sent);
        // A packet that is late on a busy machine takes a part out of a sweep: the next one has it.
        await eventually(async () => {
          const hearing = to.session.rtp.listener.next(2 * heard, 15_000);
          await from.say(sound);
          const changes = bandLevels(await hearing, BANDS, heard).map((level, at) => level - (before[at] ?? 0));
          const all = changes.map((each) => each.toFixed(1)).join(' ');
          for (const [at, change] of changes.entries())
            expect(change, `${BANDS[at]} Hz and above, of ${all} dB`).to.be.within(-3, 3);
        }, 15_000);
      }
    });
  }

  it('a phone is offered the codec of its caller first', async () => {
    const { outgoing, incoming, codecs } = await call(['PCMA'], ['OPUS', 'G722', 'PCMU', 'PCMA']);
    expect(codecs).to.deep.equal(['PCMA', 'PCMA']);
    await expectTalk(outgoing, incoming);
  });

  it('phones without a common codec talk, held and on again', async () => {
    const { outgoing, incoming, codecs } = await call(['OPUS'], ['PCMA']);
    expect(codecs).to.deep.equal(['OPUS', 'PCMA']);
    await expectTalk(outgoing, incoming);
    await outgoing.hold();
    await outgoing.unhold();
    await expectTalk(outgoing, incoming);
  });

  for (const codec of ['opus', 'G722'] as const) {
    it(`baresip with ${codec} alone and a phone with G.711 call each other; a wideband phone hears its 6 kHz`, async function () {
      const account = { login: 'carol', domain: 'demo.local', password: 'demo-carol', server: stage.node.sip };
      const program = requirePeer(this, 'baresip');
      const carol = await Baresip.start(program, { ...account, codec, tone: 500 });
      try {
        await carol.registered();
        await expectCallsBothWays(await stage.phone('alice'), carol);
      } finally {
        await carol.stop();
      }
      const high = await Baresip.start(program, { ...account, codec, tone: HIGH });
      try {
        await high.registered();
        const bob = await stage.phone('bob', { codecs: ['G722', 'OPUS'] });
        high.dial('sip:102@demo.local');
        const incoming = await bob.incoming();
        await incoming.answer();
        await incoming.hears(HIGH, { withinMs: 10_000 });
        high.hangup();
        await incoming.ended();
      } finally {
        await high.stop();
      }
    });
  }

  it('a domain says which codecs are used, in its order, and a sipuser others', async () => {
    expect(await allow('domain', ['PCMA', 'G722'])).to.equal(200);
    const { outgoing, incoming } = await call(['OPUS', 'PCMU', 'G722', 'PCMA'], ['OPUS', 'PCMA', 'G722']);
    expect(outgoing.session.remote?.codecs).to.deep.equal(['PCMA']);
    expect(incoming.session.remote?.codecs).to.deep.equal(['PCMA', 'G722']);
    await outgoing.hangup();
    expect(await allow('bob', ['opus'])).to.equal(200);
    const other = await call(['PCMU', 'G722'], ['OPUS', 'PCMU']);
    expect(other.codecs).to.deep.equal(['G722', 'OPUS']);
    await expectTalk(other.outgoing, other.incoming);
  });

  it('a phone without a codec of its domain is refused with 488', async () => {
    await allow('domain', ['G722']);
    const alice = await stage.phone('alice', { codecs: ['PCMU', 'OPUS'] });
    await stage.phone('bob');
    expect((await (await alice.call('102')).ended()).status).to.equal(488);
  });

  it('an unknown codec is refused by name', async () => {
    expect(await allow('domain', ['opus', 'G729'])).to.equal(400);
    expect(await allow('alice', [])).to.equal(400);
  });
});
