import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { IncomingCall } from '../phones/incoming-call.ts';
import type { OutgoingCall } from '../phones/outgoing-call.ts';
import type { PhoneCall } from '../phones/phone-call.ts';
import type { Phone } from '../phones/phone.ts';
import { callingAgent } from '../support/calling-agent.ts';
import { useStage } from '../support/stage.ts';
import { expectTalk, referProgress } from './expectations.ts';

/** Scenarios whose other party transfers the call, or is replaced. */
const SCENARIOS: Readonly<Record<string, string>> = {
  'e2e_desk.yaml': callingAgent({
    id: 'e2e_desk',
    head: 'on: { dtmf: { "*": bye } }',
    exits: 'answered: talk, refused: bye',
    blocks: `  talk:
    bridge: { with: agent, hang_up: false }
    exits: { ended: tone }
  tone: { play: "tone:%(1500,0,1000)", next: bye }
  bye: { hangup: , next: end }`,
  }),
  'e2e_pin.js': `
export default async function (call) {
  await call.answer();
  const { digits } = await call.collect({ prompt: 'tone:%(1000,0,1300)', max: 1, timeout: '9s' });
  const { number } = await call.info();
  await call.sendSip({ method: 'MESSAGE', content_type: 'text/plain', body: digits + ' from ' + number });
  await call.play('tone:%(9000,0,1700)');
}
`,
};

/** One recording of two successive parties. */
const MINUTES = `
id: e2e_minutes
start: pick_up
blocks:
  pick_up: { answer: , next: minutes }
  minutes:
    record: { max: 60s, silence: 0s }
    exits: { next: heard }
  heard: { play: "\${minutes.recording}", next: end }
`;

const referTo = (value: string) => [{ name: 'Refer-To', value }];

function withReplaces(number: string, call: PhoneCall): ReturnType<typeof referTo> {
  return referTo(`<sip:${number}@demo.local?Replaces=${encodeURIComponent(call.replaces)}>`);
}

describe('transfers by a party of a scenario', () => {
  const stage = useStage();

  before('write the scenarios', async () => {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'e2e_minutes.yaml'), MINUTES);
    for (const [file, text] of Object.entries(SCENARIOS)) await writeFile(join(folder, file), text);
  });

  /** Alice is connected with the agent, Bob, by a scenario. */
  async function desk(alice: Phone, bob: Phone): Promise<{ caller: OutgoingCall; agent: IncomingCall }> {
    const caller = await alice.call('*55e2e_desk');
    const agent = await bob.incoming();
    await agent.answer();
    await expectTalk(caller, agent);
    return { caller, agent };
  }

  async function refer(agent: PhoneCall): Promise<void> {
    expect((await agent.request('REFER', referTo('<sip:103@demo.local>'))).status).to.equal(202);
  }

  it('a blind transfer of a bridged call brings in the target, whose hang-up returns the caller to the scenario', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { caller, agent } = await desk(alice, bob);
    await refer(agent);
    const target = await carol.incoming();
    expect(target.callerId).to.equal('101');
    await target.answer();
    expect((await referProgress(agent)).at(-1)).to.equal('SIP/2.0 200 OK');
    expect((await agent.ended()).by).to.equal('there');
    await expectTalk(caller, target);
    await target.hold();
    await caller.hearsSound();
    await target.unhold();
    await expectTalk(caller, target);
    await target.hangup();
    await caller.hears(1000);
    await caller.ended();
  });

  it('an attended transfer of a bridged call brings in the target, and the scenario hangs up on it', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { caller, agent } = await desk(alice, bob);
    await agent.hold();
    const { outgoing, incoming } = await stage.connect(bob, carol, '103');
    expect((await agent.request('REFER', withReplaces('103', outgoing))).status).to.equal(202);
    await Promise.all([agent.ended(), outgoing.ended()]);
    await expectTalk(caller, incoming);
    await caller.hangup();
    expect((await incoming.ended()).by).to.equal('there');
  });

  it('a refused transfer of a bridged call returns the party', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { caller, agent } = await desk(alice, bob);
    await refer(agent);
    (await carol.incoming()).reject(486);
    expect((await referProgress(agent)).at(-1)).to.equal('SIP/2.0 486 Busy Here');
    await expectTalk(caller, agent);
    await caller.hangup();
    await agent.ended();
  });

  it('a transferring party that hangs up leaves the target ringing; a refusal then ends the bridge', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { caller, agent } = await desk(alice, bob);
    await refer(agent);
    const target = await carol.incoming();
    target.ring();
    await agent.hangup();
    await caller.hears(425);
    target.reject(486);
    await caller.hears(1000);
    await caller.ended();
    // The unreachable phone is no fault of the node.
    expect(stage.node.output).not.to.include('NOTIFY failed');
  });

  for (const end of ['the caller hangs up', 'the scenario does'] as const) {
    it(`a transfer of a bridged call cancels the target when ${end}`, async () => {
      const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
      const { caller, agent } = await desk(alice, bob);
      await refer(agent);
      const target = await carol.incoming();
      target.ring();
      if (end === 'the caller hangs up') await caller.hangup();
      else await caller.sendDtmf('*');
      expect((await target.ended()).by).to.equal('cancelled');
      await Promise.all([agent.ended(), caller.ended()]);
    });
  }

  it('a phone that replaces a bridged party continues the call', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { caller, agent } = await desk(alice, bob);
    const taking = await carol.call('102', { headers: [{ name: 'Replaces', value: agent.replaces }] });
    await taking.answered();
    expect((await agent.ended()).by).to.equal('there');
    await expectTalk(caller, taking);
    await taking.hangup();
    await caller.hears(1000);
    await caller.ended();
  });

  it('a transfer of the scenario itself asks the target anew', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const caller = await alice.call('*55e2e_pin');
    await caller.hears(1300);
    expect((await caller.request('REFER', referTo('<sip:102@demo.local>'))).status).to.equal(202);
    const target = await bob.incoming();
    target.ring();
    await caller.hangup();
    await target.answer();
    await target.hears(1300);
    await target.sendDtmf('7');
    expect((await target.messages.next(5000)).body).to.equal('7 from 102');
    await target.hears(1700);
    await target.hangup();
  });

  /** Alice has spoken to a scenario that records her. */
  async function recorded(alice: Phone): Promise<OutgoingCall> {
    const caller = await alice.call('*55e2e_minutes');
    await caller.hears(1000);
    caller.play(440);
    await caller.hearsNot(300, { forMs: 1000 });
    return caller;
  }

  async function expectBoth(second: PhoneCall): Promise<void> {
    second.play(1100);
    await second.hearsNot(300, { forMs: 1000 });
    await second.sendDtmf('#');
    await second.hears(440);
    await second.hears(1100);
    await second.ended();
  }

  it('a transfer during a recording keeps the recorded part and continues with the target', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const caller = await recorded(alice);
    expect((await caller.request('REFER', referTo('<sip:102@demo.local>'))).status).to.equal(202);
    const target = await bob.incoming();
    await target.answer();
    expect((await referProgress(caller)).at(-1)).to.equal('SIP/2.0 200 OK');
    await expectBoth(target);
  });

  it('a replacement during a recording keeps the recorded part and continues with the new phone', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const caller = await recorded(alice);
    const taking = await bob.call('101', { headers: [{ name: 'Replaces', value: caller.replaces }] });
    await taking.answered();
    await caller.ended();
    await expectBoth(taking);
  });

  it('an attended transfer connects a party with the scenario', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    await outgoing.hold();
    const scenario = await alice.call('*55e2e_pin');
    await scenario.hears(1300);
    expect((await outgoing.request('REFER', withReplaces('*55e2e_pin', scenario))).status).to.equal(202);
    expect((await referProgress(outgoing)).at(-1)).to.equal('SIP/2.0 200 OK');
    await Promise.all([outgoing.ended(), scenario.ended()]);
    await incoming.hears(1300);
    await incoming.sendDtmf('5');
    expect((await incoming.messages.next(5000)).body).to.equal('5 from 102');
    await incoming.hangup();
  });
});
