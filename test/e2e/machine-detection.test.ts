import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { beep, GREETING, joined, noise, quiet } from '../media/machine-detection/support.ts';
import { speechPeers, spoken } from '../speech/support/spoken.ts';
import { eventually } from '../support/eventually.ts';
import { runsOf } from '../support/runs.ts';
import { useStage } from '../support/stage.ts';
import { expectTalk } from './expectations.ts';

const MESSAGE = 1500;
const SCENARIOS: Readonly<Record<string, string>> = {
  e2e_reminder: `
start: ring
blocks:
  ring: { call: { to: "102" }, leg: them, exits: { answered: who, refused: end } }
  who: { detect_machine: end_of_greeting, leg: them, exits: { human: tell, machine: tell } }
  tell: { play: "tone:%(2000,0,${MESSAGE})", leg: them, next: end }`,
  e2e_only_people: `
start: who
blocks:
  who: { detect_machine: decision, exits: { human: take, machine: decline } }
  take: { return: true }
  decline: { return: false }`,
  e2e_follow_people: `
start: ring
blocks:
  ring:
    hunt: { members: ["102", "103"], strategy: all_at_once, timeout: 15s, pre_answer: e2e_only_people }
    exits: { failed: end }`,
};

describe('answering-machine detection on a node', () => {
  const stage = useStage();

  before('write the scenarios', async () => {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    for (const [id, text] of Object.entries(SCENARIOS)) await writeFile(join(folder, `${id}.yaml`), `id: ${id}${text}`);
  });

  /** Bob is called, answers, and sends this sound. */
  async function greetedBy(sound: Int16Array) {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const caller = await alice.call('*55e2e_reminder');
    const called = await bob.incoming();
    await called.answer();
    const said = called.say(sound);
    await called.hears(MESSAGE, { withinMs: 20_000 });
    await said;
    await caller.ended();
    return eventually(async () => {
      const [run] = await runsOf(await stage.rest(), 'e2e_reminder');
      const entry = run?.trace.find(({ block }) => block === 'who');
      expect(entry?.exit).to.be.a('string');
      return { exit: entry?.exit, ...entry?.result };
    });
  }

  it('a short sound is a person, who is spoken to after a pause', async () => {
    const found = await greetedBy(joined(quiet(300), noise(500, 3000)));
    expect(found).to.deep.include({ exit: 'human', cause: 'short_greeting', end: '' });
  });

  it('a spoken "hello" is a person', async function () {
    if (!speechPeers()) this.skip();
    expect(await greetedBy(spoken('Hello?'))).to.deep.include({ exit: 'human', cause: 'short_greeting' });
  });

  it('a spoken mailbox greeting is a machine, and the message follows the beep', async function () {
    if (!speechPeers()) this.skip();
    const found = await greetedBy(joined(spoken(GREETING, { before: 200, after: 600 }), beep(1000, 400)));
    expect(found).to.deep.include({ exit: 'machine', end: 'beep' });
  });

  it('in a hunt, a mailbox takes no call from a person', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const caller = await alice.call('*55e2e_follow_people');
    const [mailbox, mobile] = await Promise.all([bob.incoming(), carol.incoming()]);
    mobile.ring();
    await mailbox.answer();
    // Its sound ends with the call.
    void mailbox.say(noise(4000, 3000));
    await mailbox.ended();
    expect(mobile.live).to.equal(true);
    await mobile.answer();
    await mobile.say(noise(400, 3000));
    await caller.answered();
    await expectTalk(caller, mobile);
  });
});
