import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { tokenFor } from '../../runtime/cli/node-access.ts';
import { callingAgent } from '../support/calling-agent.ts';
import { useStage } from '../support/stage.ts';
import { expectTalk } from './expectations.ts';

/** Scenarios that call phones, connect them, park them, and send them messages. */
const SCENARIOS: Readonly<Record<string, string>> = {
  e2e_bridge: callingAgent({
    id: 'e2e_bridge',
    head: 'on: { dtmf: { "*": tone } }',
    exits: 'answered: talk, refused: bye',
    blocks: `  talk:
    bridge: { with: agent, hang_up: false }
    exits: { ended: tone }
  tone: { play: "tone:%(3000,0,1000)", next: bye }
  bye: { hangup: , next: end }`,
  }),
  e2e_consult: callingAgent({
    id: 'e2e_consult',
    exits: 'answered: tell, refused: end',
    blocks: `  tell:
    menu: { prompt: "tone:%(3000,0,1000)", tries: 1, timeout: 3s }
    leg: agent
    exits: { 1: give, failed: end }
  give:
    join: { dialogid: "\${ring.dialogid}", side: b }
    exits: { refused: end }`,
  }),
  e2e_gone: callingAgent({
    id: 'e2e_gone',
    exits: 'answered: ask, refused: bye',
    blocks: `  ask: { collect: { max: 1 }, exits: { next: talk, timeout: bye } }
  talk: { bridge: agent, exits: { ended: tone } }
  tone: { play: "tone:%(3000,0,1000)", next: bye }
  bye: { hangup: , next: end }`,
  }),
  e2e_whisper: `
id: e2e_whisper
start: ask
blocks:
  ask:
    menu: { prompt: "tone:%(3000,0,1000)", tries: 1, timeout: 3s }
    exits: { 1: yes, 2: no, failed: no }
  yes: { return: true }
  no: { return: false }
`,
  e2e_refer: `
id: e2e_refer
start: pick_up
blocks:
  pick_up: { answer: , next: give }
  give:
    refer: { to: "102", timeout: 10s, pre_answer: e2e_whisper }
    exits: { refused: busy }
  busy: { play: "tone:%(3000,0,1700)", next: end }
`,
  e2e_hunt: `
id: e2e_hunt
start: pick_up
blocks:
  pick_up: { answer: , next: hunt }
  hunt:
    hunt: { members: ["102", "103", "104"], strategy: all_at_once, timeout: 5s }
    exits: { failed: busy }
  busy: { play: "tone:%(2000,0,1500)", next: end }
`,
  e2e_park: `
id: e2e_park
start: pick_up
finally: note
blocks:
  pick_up: { answer: , next: wait }
  wait:
    park: { slot: "709", timeout: 20s, sounds: "tone:%(500,0,1500)" }
    exits: { retrieved: over, timeout: over }
  over: { log: "done", next: end }
  note: { log: "end", next: end }
`,
  e2e_text: `
id: e2e_text
on: { sip: { MESSAGE: texted } }
start: pick_up
blocks:
  pick_up: { answer: , next: greet }
  greet:
    send_sip: { method: MESSAGE, body: "you are next" }
    exits: { next: notify, refused: end }
  notify:
    send_sip: { method: NOTIFY, event: talk, body: "", content_type: text/plain }
    next: music
  music: { hold_music: , next: end }
  texted:
    send_sip: { method: INFO, body: "got \${string(event.data.body)}", content_type: text/plain }
    next: bye
  bye: { hangup: , next: end }
`,
};

describe('scenarios with further call legs', () => {
  const stage = useStage();

  before('write the scenarios', async () => {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    for (const [id, text] of Object.entries(SCENARIOS)) await writeFile(join(folder, `${id}.yaml`), text);
  });

  it('join hands over the caller to an agent the scenario has talked to, and the scenario ends', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const caller = await alice.call('*55e2e_consult');
    const agent = await bob.incoming();
    await agent.answer();
    await agent.hears(1000);
    await agent.sendDtmf('1');
    await expectTalk(caller, agent);
    await caller.hangup();
    expect((await agent.ended()).by).to.equal('there');
  });

  describe('bridge', () => {
    for (const who of ['the agent', 'the caller'] as const) {
      it(`connects the caller and an agent until ${who} hangs up`, async () => {
        const [alice, bob] = await stage.phones('alice', 'bob');
        const caller = await alice.call('*55e2e_bridge');
        await caller.answered();
        const agent = await bob.incoming();
        expect(agent.callerId).to.equal('101');
        agent.ring();
        await agent.answer();
        await expectTalk(caller, agent);
        if (who === 'the agent') {
          await agent.hangup();
          await caller.hears(1000);
          expect((await caller.ended()).by).to.equal('there');
        } else {
          await caller.hangup();
          expect((await agent.ended()).by).to.equal('there');
        }
      });
    }

    it('leaves the caller with the scenario when the agent hung up earlier', async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const caller = await alice.call('*55e2e_gone');
      await caller.answered();
      const agent = await bob.incoming();
      await agent.answer();
      await agent.hangup();
      await caller.sendDtmf('1');
      await caller.hears(1000);
      expect((await caller.ended()).by).to.equal('there');
    });

    it('is ended by an interrupt, and the agent is hung up with the scenario', async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const caller = await alice.call('*55e2e_bridge');
      const agent = await bob.incoming();
      await agent.answer();
      await expectTalk(caller, agent);
      await caller.sendDtmf('*');
      await caller.hears(1000);
      await Promise.all([agent.ended(), caller.ended()]);
    });

    it('plays the hold melody to the waiting party, and continues after it', async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const caller = await alice.call('*55e2e_bridge');
      const agent = await bob.incoming();
      await agent.answer();
      await expectTalk(caller, agent);
      await agent.hold();
      await caller.hearsSound();
      await agent.unhold();
      await expectTalk(caller, agent);
      await caller.hangup();
      await agent.ended();
    });

    it("cancels the agent's ringing when the caller hangs up", async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const caller = await alice.call('*55e2e_bridge');
      await caller.answered();
      const agent = await bob.incoming();
      agent.ring();
      await caller.hangup();
      expect((await agent.ended()).by).to.equal('cancelled');
    });
  });

  describe('pre_answer', () => {
    it('serves the answering party alone first, and connects it with the caller', async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const caller = await alice.call('*55e2e_refer');
      await caller.answered();
      const called = await bob.incoming();
      await called.answer();
      await called.hears(1000);
      await caller.hearsNot(1000, { forMs: 300 });
      await called.sendDtmf('1');
      await called.sendDtmf('1');
      await expectTalk(caller, called);
    });

    it('returns the caller when the called party declines', async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const caller = await alice.call('*55e2e_refer');
      await caller.answered();
      const called = await bob.incoming();
      await called.answer();
      await called.hears(1000);
      await called.sendDtmf('2');
      await called.sendDtmf('2');
      await called.ended();
      await caller.hears(1700);
    });

    for (const who of ['caller', 'called'] as const) {
      it(`ends when the ${who} party hangs up`, async () => {
        const [alice, bob] = await stage.phones('alice', 'bob');
        const caller = await alice.call('*55e2e_refer');
        await caller.answered();
        const called = await bob.incoming();
        await called.answer();
        await called.hears(1000);
        await (who === 'caller' ? caller : called).hangup();
        if (who === 'caller') await called.ended();
        else await caller.hears(1700);
      });
    }
  });

  describe('hunt all_at_once', () => {
    it('rings all members; the first to answer gets the call, and the others are cancelled', async () => {
      const [alice, bob, carol, dave] = await stage.phones('alice', 'bob', 'carol', 'dave');
      const caller = await alice.call('*55e2e_hunt');
      const rings = await Promise.all([bob, carol, dave].map((phone) => phone.incoming()));
      for (const ring of rings) ring.ring();
      const [first, second, third] = rings;
      if (!first || !second || !third) throw new Error('three phones ring');
      await second.answer();
      await expectTalk(caller, second);
      expect((await first.ended()).by).to.equal('cancelled');
      expect((await third.ended()).by).to.equal('cancelled');
      const dialog = await stage.dialog();
      expect(dialog.callids).to.have.length(2);
    });

    it('returns the caller when all refuse, and cancels all when the caller hangs up', async () => {
      const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
      const refused = await alice.call('*55e2e_hunt');
      for (const phone of [bob, carol]) (await phone.incoming()).reject(486);
      await refused.hears(1500);
      await refused.hangup();
      const caller = await alice.call('*55e2e_hunt');
      const rings = await Promise.all([bob, carol].map((phone) => phone.incoming()));
      for (const ring of rings) ring.ring();
      await caller.hangup();
      for (const ring of rings) expect((await ring.ended()).by).to.equal('cancelled');
    });
  });

  describe('park', () => {
    it('plays music to the caller until another phone dials the slot', async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const parked = await alice.call('*55e2e_park');
      await parked.answered();
      await parked.hears(1500);
      const other = await bob.call('*55retrieve');
      await other.answered();
      await other.hearsSound();
      await other.sendDtmf('7');
      await other.sendDtmf('0');
      await other.sendDtmf('9');
      await expectTalk(parked, other);
      await parked.hearsNot(1500, { forMs: 400 });
      await parked.hangup();
      await other.ended();
    });

    it('releases a caller who hangs up, and empties the slot', async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const parked = await alice.call('*55e2e_park');
      await parked.answered();
      await parked.hears(1500);
      await parked.hangup();
      const other = await bob.call('*55retrieve');
      await other.answered();
      await other.hearsSound();
      for (const digit of '709') await other.sendDtmf(digit);
      expect((await other.ended(10_000)).by).to.equal('there');
    });
  });

  it('commands reach the node as the demo administrator', async () => {
    const token = await tokenFor(`${stage.node.base}/rest/v1`, undefined);
    const runs = await fetch(`${stage.node.base}/rest/v1/api/runs`, { headers: { authorization: `Bearer ${token}` } });
    expect(runs.status).to.equal(200);
  });

  it('SIP requests within the call reach the phone, and requests of the phone interrupt the scenario', async () => {
    const alice = await stage.phone('alice');
    const caller = await alice.call('*55e2e_text');
    await caller.answered();
    expect((await caller.messages.next(3000)).body).to.equal('you are next');
    const notify = await caller.notifies.next(3000);
    expect(notify.headers.find(({ name }) => name === 'Event')?.value).to.equal('talk');
    const type = [{ name: 'Content-Type', value: 'text/plain' }];
    expect((await caller.request('MESSAGE', type, 'me too')).status).to.equal(200);
    expect((await caller.ended()).by).to.equal('there');
    expect(caller.infos).to.deep.equal(['got me too']);
  });
});
