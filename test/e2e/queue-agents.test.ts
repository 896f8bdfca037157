import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Phone } from '../phones/phone.ts';
import { useStage } from '../support/stage.ts';
import { eventually } from '../support/eventually.ts';
import { expectTalk, expectError } from './expectations.ts';

/** Music, what the caller hears after the conversation, and what a supervisor hears of an idle agent, in Hertz. */
const MUSIC = 1500;
const AFTER = 1000;
const IDLE = 1900;

const SCENARIOS: Readonly<Record<string, string>> = {
  e2e_agents: `
start: pick_up
blocks:
  pick_up: { answer: , next: line }
  line:
    queue: { name: e2e_agents, agents: ["102", "103"], ring: 10s, sounds: "tone:%(500,0,${MUSIC})" }
    exits: { served: after }
  after: { play: "tone:%(20000,0,${AFTER})", next: end }`,
  e2e_assigned: `
start: pick_up
blocks:
  pick_up: { answer: , next: line }
  line:
    queue: { name: e2e_assigned, agents: assigned, skills: [german], wrap_up: 1h, sounds: "tone:%(500,0,${MUSIC})" }
    exits: { served: end }`,
  e2e_switch: `
start: pick_up
blocks:
  pick_up: { answer: , next: change }
  change: { agent: { number: "\${call.number}", state: away }, next: tone }
  tone: { play: "tone:%(2000,0,${AFTER})", next: end }`,
  e2e_supervise: `
start: pick_up
blocks:
  pick_up: { answer: , next: listen }
  listen: { supervise: { agent: "102", mode: whisper }, exits: { ended: after, idle: idle } }
  after: { play: "tone:%(20000,0,${AFTER})", next: end }
  idle: { play: "tone:%(20000,0,${IDLE})", next: end }`,
};
const AGENTS = '/rest/v1/uc/agents';
const QUEUES = '/rest/v1/uc/queues';

describe('a queue with agents', () => {
  const stage = useStage();

  before('write the scenarios', async () => {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    for (const [id, text] of Object.entries(SCENARIOS)) await writeFile(join(folder, `${id}.yaml`), `id: ${id}${text}`);
  });

  afterEach('forget the agents', async () => {
    const rest = await stage.rest();
    for (const { id } of (await rest.get(AGENTS)).json<{ id: string }[]>())
      await rest.send('DELETE', `${AGENTS}/${id}`);
  });

  async function waiting(phone: Phone, number = '*55e2e_agents') {
    const call = await phone.call(number);
    await call.answered();
    return call;
  }

  async function status(number: string): Promise<string> {
    return (await (await stage.rest()).get(`${AGENTS}/${number}`)).json<{ status: string }>().status;
  }

  it('rings a free agent while the caller hears music, connects them, and gives the caller back', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const caller = await waiting(alice);
    const agent = await bob.incoming();
    expect(agent.callerId).to.equal('101');
    agent.ring();
    await caller.hears(MUSIC);
    expect(await status('102')).to.equal('ringing');
    await agent.answer();
    await expectTalk(caller, agent);
    expect(await status('102')).to.equal('talking');
    await agent.hangup();
    await caller.hears(AFTER);
    expect(await status('102')).to.equal('ready');
  });

  it('tries the next agent when one refuses, and rings nobody who has a call', async () => {
    const [alice, bob, carol, dave] = await stage.phones('alice', 'bob', 'carol', 'dave');
    const { outgoing } = await stage.connect(dave, carol, '103');
    const caller = await waiting(alice);
    (await bob.incoming()).reject(486);
    await caller.hears(MUSIC);
    expect([await status('103'), carol.waitingCalls]).to.deep.equal(['busy', 0]);
    await outgoing.hangup();
    const agent = await carol.incoming();
    await agent.answer();
    await expectTalk(caller, agent);
  });

  it('rings one agent for one caller only, and the agent gets the next caller afterwards', async () => {
    const [alice, dave, bob] = await stage.phones('alice', 'dave', 'bob');
    await (await stage.rest()).send('PUT', `${AGENTS}/103`, { body: { state: 'away' } });
    const first = await waiting(alice);
    const agent = await bob.incoming();
    const second = await waiting(dave);
    await second.hears(MUSIC);
    const [line] = (await (await stage.rest()).get(QUEUES)).json<{ id: string; length: number }[]>();
    expect(line).to.include({ id: 'e2e_agents', length: 2 });
    expect(bob.waitingCalls).to.equal(0);
    await agent.answer();
    await expectTalk(first, agent);
    await first.hangup();
    await agent.ended();
    const next = await bob.incoming();
    expect(next.callerId).to.equal('104');
    await second.hangup();
    expect((await next.ended()).by).to.equal('cancelled');
    await eventually(async () => expect(await status('102')).to.equal('ready'));
  });

  it('serves by agents with its skills, whose state REST, a scenario and a dialled number set', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const rest = await stage.rest();
    const caller = await waiting(alice, '*55e2e_assigned');
    const agent = { state: 'ready', queues: ['e2e_assigned'], skills: ['french'] };
    expect((await rest.send('PUT', `${AGENTS}/102`, { body: agent })).json()).to.include({
      id: '102',
      status: 'ready',
    });
    const dialled = await bob.call('*55e2e_switch');
    await dialled.hears(AFTER);
    await dialled.hangup();
    expect(await status('102')).to.equal('away');
    await rest.send('PATCH', `${AGENTS}/102`, { body: { skills: ['german', 'french'] } });
    await caller.hears(MUSIC);
    expect(bob.waitingCalls).to.equal(0);
    await rest.send('PATCH', `${AGENTS}/102`, { body: { state: 'ready' } });
    const call = await bob.incoming();
    await call.answer();
    await expectTalk(caller, call);
    await call.hangup();
    await caller.ended();
    expect(await status('102')).to.equal('wrap_up');
    expectError(await rest.send('PATCH', `${AGENTS}/999`, { body: { state: 'away' } }), 404, 1404);
    expectError(await rest.send('PUT', `${AGENTS}/102`, { body: { state: 'asleep' } }), 400, 1400);
  });

  it('supervisors listen, whisper and barge, and hear of an idle agent', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const idle = await waiting(carol, '*55e2e_supervise');
    await idle.hears(IDLE);
    await idle.hangup();
    const caller = await waiting(alice);
    const agent = await bob.incoming();
    await agent.answer();
    await expectTalk(caller, agent);
    const boss = await waiting(carol, '*55e2e_supervise');
    boss.play(2300);
    await Promise.all([boss.hears(440), boss.hears(620), agent.hears(2300)]);
    await caller.hearsNot(2300, { forMs: 200 });
    await boss.sendDtmf('0');
    boss.play(2300);
    await eventually(() => agent.hearsNot(2300, { forMs: 200 }));
    await Promise.all([boss.hears(440), boss.hears(620), caller.hearsNot(2300, { forMs: 200 })]);
    await boss.sendDtmf('3');
    boss.play(2300);
    await Promise.all([agent.hears(2300), caller.hears(2300)]);
    await agent.hangup();
    await boss.hears(AFTER);
  });
});
