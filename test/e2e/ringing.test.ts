import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { IncomingCall } from '../phones/incoming-call.ts';
import { useStage } from '../support/stage.ts';
import { expectTalk } from './expectations.ts';

/** The ringing tone, the music, and the question to a called party, in Hertz. */
const RINGING = 425;
const MUSIC = 700;
const QUESTION = 1000;

const FAILED = 'failed: { play: "tone:%(3000,0,1500)", next: end }';
const MUSIC_SETTING = `sounds: "tone:%(500,0,${MUSIC})"`;

const SCENARIOS: Readonly<Record<string, string>> = {
  e2e_accept: `
parameters: { wait: { type: string, default: 20s } }
start: ask
blocks:
  ask:
    menu: { prompt: "tone:%(20000,0,${QUESTION})", tries: 1, timeout: "\${wait}" }
    exits: { 1: yes, 2: no, failed: no }
  yes: { return: true }
  no: { return: false }`,
  e2e_follow_me: `
start: pick_up
blocks:
  pick_up: { answer: , next: hunt }
  hunt:
    hunt: { members: ["102", "103", "104"], strategy: all_at_once, timeout: 15s, pre_answer: e2e_accept }
    exits: { failed: failed }
  ${FAILED}`,
  e2e_slow_screening: `
start: pick_up
blocks:
  pick_up: { answer: , next: hunt }
  hunt:
    hunt: { members: ["102", "103"], strategy: all_at_once, timeout: 300ms, pre_answer: e2e_accept, pre_answer_timeout: 1500ms }
    exits: { failed: failed }
  ${FAILED}`,
  e2e_music_refer: `
start: pick_up
blocks:
  pick_up: { answer: , next: give }
  give: { refer: { to: "102", pre_answer: e2e_accept, ${MUSIC_SETTING} }, exits: { refused: end } }`,
  e2e_early_music: `
start: ring
blocks:
  ring:
    call: { to: "102", ${MUSIC_SETTING} }
    leg: agent
    exits: { answered: pick_up, refused: end }
  pick_up: { answer: , next: talk }
  talk: { bridge: agent, exits: { ended: end } }`,
  e2e_ring_first: `
start: ring
blocks:
  ring: { call: { to: "102" }, leg: agent, exits: { answered: pick_up, refused: end } }
  pick_up: { answer: , next: again }
  again: { call: { to: "103" }, leg: second, exits: { answered: talk, refused: end } }
  talk: { bridge: second, exits: { ended: end } }`,
};

/** The end of a phone that picked up while another one got the call. */
const ELSEWHERE = { by: 'there', reason: 'SIP;cause=200;text="Call completed elsewhere"' };

describe('while phones ring', () => {
  const stage = useStage();

  before('write the scenarios', async () => {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    for (const [id, text] of Object.entries(SCENARIOS)) await writeFile(join(folder, `${id}.yaml`), `id: ${id}${text}`);
  });

  describe('with screening', () => {
    /** Alice calls, and three phones ring: a desk phone, a mailbox and a mobile. */
    async function followMe() {
      const [alice, bob, carol, dave] = await stage.phones('alice', 'bob', 'carol', 'dave');
      const caller = await alice.call('*55e2e_follow_me');
      await caller.answered();
      const [desk, mailbox, mobile] = await Promise.all([bob.incoming(), carol.incoming(), dave.incoming()]);
      for (const phone of [desk, mailbox, mobile]) phone.ring();
      return { caller, desk, mailbox, mobile };
    }

    /** The phone answers and is asked. */
    async function pickUp(...phones: readonly IncomingCall[]): Promise<void> {
      for (const phone of phones) {
        await phone.answer();
        await phone.hears(QUESTION);
      }
    }

    it('a mailbox that picks up does not take the call from the mobile, and is hung up with a reason', async () => {
      const { caller, desk, mailbox, mobile } = await followMe();
      await pickUp(mailbox);
      await caller.hears(RINGING);
      expect([desk.live, mobile.live]).to.deep.equal([true, true]);
      await pickUp(mobile);
      await mobile.sendDtmf('1');
      await expectTalk(caller, mobile);
      expect(await mailbox.ended()).to.deep.equal(ELSEWHERE);
      expect((await desk.ended()).by).to.equal('cancelled');
    });

    it('a phone that declines leaves the call to the others; when nobody accepts, the caller is back', async () => {
      const { caller, desk, mailbox, mobile } = await followMe();
      await pickUp(desk);
      await desk.sendDtmf('2');
      expect(await desk.ended()).to.deep.equal({ by: 'there', reason: 'SIP;cause=603;text="Decline"' });
      // Another account's refusal of all its phones (6xx) is not the group's.
      mobile.reject(603);
      await caller.hears(RINGING);
      expect(mailbox.live).to.equal(true);
      await pickUp(mailbox);
      await mailbox.hangup();
      await caller.hears(1500);
    });

    it('exactly one of two who accept at the same moment gets the call', async () => {
      const { caller, desk, mobile } = await followMe();
      await pickUp(desk, mobile);
      await Promise.all([desk.sendDtmf('1'), mobile.sendDtmf('1')]);
      const loser = await Promise.race([desk, mobile].map(async (phone) => phone.ended().then(() => phone)));
      expect(await loser.ended()).to.deep.equal(ELSEWHERE);
      await expectTalk(caller, loser === desk ? mobile : desk);
    });

    it('ends for all when the caller hangs up', async () => {
      const { caller, desk, mailbox, mobile } = await followMe();
      await pickUp(mailbox, mobile);
      await caller.hangup();
      expect((await desk.ended()).by).to.equal('cancelled');
      for (const phone of [mailbox, mobile]) expect((await phone.ended()).by).to.equal('there');
    });

    it('a phone that has picked up may still accept after the ringing time, but is not asked for ever', async () => {
      const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
      const caller = await alice.call('*55e2e_slow_screening');
      const [asked, ringing] = await Promise.all([bob.incoming(), carol.incoming()]);
      await asked.answer();
      await ringing.ended();
      await asked.hears(QUESTION);
      await caller.hears(RINGING);
      await asked.ended();
      await caller.hears(1500);
    });
  });

  it('refer plays its sounds to the caller, also while the called party is asked', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const caller = await alice.call('*55e2e_music_refer');
    const called = await bob.incoming();
    called.ringWithEarlyMedia();
    called.play(620);
    await caller.hears(MUSIC);
    await called.answer();
    await called.hears(QUESTION);
    await caller.hears(MUSIC);
    await called.sendDtmf('1');
    await expectTalk(caller, called);
  });

  it('call plays its sounds to a caller who is not answered yet, as early media', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const caller = await alice.call('*55e2e_early_music');
    const called = await bob.incoming();
    called.ring();
    expect(await caller.earlyMedia()).to.equal(183);
    await caller.hears(MUSIC);
    await called.answer();
    await caller.answered();
    await expectTalk(caller, called);
  });

  it('call gives a caller 180 before the answer, and the ringing tone after it', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const caller = await alice.call('*55e2e_ring_first');
    const first = await bob.incoming();
    await caller.ringing();
    await first.answer();
    await caller.answered();
    const second = await carol.incoming();
    second.ring();
    await caller.hears(RINGING);
    await second.answer();
    await expectTalk(caller, second);
  });
});
