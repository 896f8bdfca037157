import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { useStage } from '../support/stage.ts';
import { expectTalk } from './expectations.ts';

const MUSIC = 700;
const SOUNDS = `sounds: "tone:%(500,0,${MUSIC})"`;
const hunt = (settings: string, failed = 'end') => `
start: ring
blocks:
  ring: { hunt: { members: ["102", "103"], timeout: 10s, ${settings} }, exits: { failed: ${failed} } }`;

const SCENARIOS: Readonly<Record<string, string>> = {
  unanswered_group: hunt('strategy: all_at_once'),
  unanswered_order: hunt('strategy: in_order'),
  unanswered_short: hunt('strategy: all_at_once, timeout: 400ms').replace('timeout: 10s, ', ''),
  unanswered_music: hunt(`strategy: all_at_once, ${SOUNDS}`),
  unanswered_voicemail: `${hunt(`strategy: all_at_once, ${SOUNDS}`, 'pick_up')}
  pick_up: { answer: , next: sorry }
  sorry: { play: "tone:%(3000,0,1500)", next: end }`,
  unanswered_reject: `${hunt('strategy: all_at_once', 'refuse')}
  refuse: { reject: 404, exits: { next: end } }`,
  unanswered_refer: `
start: ring
blocks:
  ring: { refer: { to: "102", timeout: 10s }, exits: { refused: end } }`,
  unanswered_interrupted: `
on: { after: { 2s: pick_up } }
start: ring
blocks:
  ring: { refer: { to: "102", timeout: 10s }, exits: { refused: end } }
  pick_up: { answer: , next: sorry }
  sorry: { play: "tone:%(3000,0,1500)", next: end }`,
  unanswered_call: `
start: ring
blocks:
  ring: { call: { to: "102", timeout: 10s }, leg: agent, exits: { answered: end, refused: end } }`,
};

describe('a caller whom the scenario does not answer', () => {
  const stage = useStage();

  before('write the scenarios', async () => {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    for (const [id, text] of Object.entries(SCENARIOS)) await writeFile(join(folder, `${id}.yaml`), `id: ${id}${text}`);
  });

  async function ringing(scenario: string) {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const caller = await alice.call(`*55${scenario}`);
    const called = await Promise.all([bob.incoming(), carol.incoming()]);
    for (const phone of called) phone.ring();
    return { caller, bob: called[0], carol: called[1] };
  }

  /** Only Bob rings. */
  async function ringingOne(scenario: string) {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const caller = await alice.call(`*55${scenario}`);
    return { caller, bob: await bob.incoming(), carol };
  }

  it('hears ringing, and is answered when a member of the group answers, as one call', async () => {
    const { caller, bob, carol } = await ringing('unanswered_group');
    expect(await caller.ringing()).to.equal(180);
    expect(caller.established).to.equal(false);
    await carol.answer();
    await caller.answered();
    expect((await bob.ended()).by).to.equal('cancelled');
    await expectTalk(caller, carol);
    expect((await stage.dialog()).status).to.equal('dialog');
  });

  it('hears sounds as early media while the group rings', async () => {
    const { caller, bob } = await ringing('unanswered_music');
    expect(await caller.earlyMedia()).to.equal(183);
    await caller.hears(MUSIC);
    expect(caller.established).to.equal(false);
    await bob.answer();
    await caller.answered();
    await expectTalk(caller, bob);
  });

  it('hears the early media of a phone where the scenario plays nothing', async () => {
    const { caller, bob } = await ringingOne('unanswered_refer');
    bob.ringWithEarlyMedia();
    bob.play(620);
    expect(await caller.earlyMedia()).to.equal(183);
    await caller.hears(620);
    await bob.answer();
    await caller.answered();
    await expectTalk(caller, bob);
  });

  it('goes on to the next member, and is answered by that one', async () => {
    const { caller, bob, carol } = await ringingOne('unanswered_order');
    bob.reject(486);
    const second = await carol.incoming();
    await second.answer();
    await caller.answered();
    await expectTalk(caller, second);
  });

  for (const { what, bob: first, carol: second, status } of [
    { what: '486 when a member is busy', bob: 486, carol: 480, status: 486 },
    { what: '480 when nobody is there', bob: 480, carol: 480, status: 480 },
    { what: '603 when a member declines', bob: 603, carol: 486, status: 603 },
  ])
    it(`gets ${what}`, async () => {
      const { caller, bob, carol } = await ringing('unanswered_group');
      bob.reject(first);
      carol.reject(second);
      expect((await caller.refused()).status).to.equal(status);
    });

  it('gets the best refusal of members that rang one after another', async () => {
    const { caller, bob, carol } = await ringingOne('unanswered_order');
    bob.reject(486);
    (await carol.incoming()).reject(480);
    expect((await caller.refused()).status).to.equal(486);
  });

  it('gets 408 when nobody answers in time', async () => {
    const { caller, bob, carol } = await ringing('unanswered_short');
    expect((await caller.refused()).status).to.equal(408);
    for (const phone of [bob, carol]) expect((await phone.ended()).by).to.equal('cancelled');
  });

  it('gets 486 when the phone of a leg is busy and the scenario ends', async () => {
    const { caller, bob } = await ringingOne('unanswered_call');
    bob.reject(486);
    expect((await caller.refused()).status).to.equal(486);
  });

  it('gets the status of the scenario when that rejects the call', async () => {
    const { caller, bob, carol } = await ringing('unanswered_reject');
    bob.reject(486);
    carol.reject(486);
    expect((await caller.refused()).status).to.equal(404);
  });

  it('may be answered by the scenario when nobody took the call', async () => {
    const { caller, bob, carol } = await ringing('unanswered_voicemail');
    await caller.hears(MUSIC);
    bob.reject(486);
    carol.reject(603);
    await caller.answered();
    await caller.hears(1500);
    await caller.hangup();
  });

  it('an interrupt ends the ringing, and the scenario may answer', async () => {
    const { caller, bob } = await ringingOne('unanswered_interrupted');
    bob.ring();
    expect((await bob.ended()).by).to.equal('cancelled');
    await caller.answered();
    await caller.hears(1500);
    await caller.hangup();
  });

  it('ends all ringing by CANCEL', async () => {
    const { caller, bob, carol } = await ringing('unanswered_music');
    await caller.hears(MUSIC);
    await caller.cancel();
    for (const phone of [bob, carol]) expect((await phone.ended()).by).to.equal('cancelled');
  });

  it('is one call in the history, with every phone that rang', async () => {
    const { caller, bob, carol } = await ringing('unanswered_group');
    await bob.answer();
    await caller.answered();
    await carol.ended();
    const { inviteid } = await stage.dialog();
    await caller.hangup();
    const record = await eventually(async () => {
      const answer = await (await stage.rest()).get(`/rest/v1/uc/history/${inviteid}`);
      expect(answer.status, answer.text).to.equal(200);
      return answer.json<{ legs: { number: string; sip_status: number | null }[] }>();
    });
    expect(record).to.deep.include({ result: 'answered', called_number: '102', ended_by: 'caller' });
    const legs = record.legs.map(({ number, sip_status: status }) => [number, status]);
    expect(legs).to.have.deep.members([
      ['101', 200],
      ['*55unanswered_group', null],
      ['102', 200],
      ['103', null],
    ]);
  });
});
