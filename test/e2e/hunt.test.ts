import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Phone } from '../phones/phone.ts';
import { useStage } from '../support/stage.ts';
import { expectTalk } from './expectations.ts';

const HUNT = `
id: e2e_least_recent
start: pick_up
blocks:
  pick_up: { answer: , next: hunt }
  hunt:
    hunt: { members: ["102", "103", "104"], strategy: least_recent, timeout: 5s }
    exits: { failed: nobody }
  nobody: { play: "tone:%(2000,0,1500)", next: end }
`;

describe('a hunt group with strategy least_recent', () => {
  // A node of its own: earlier calls count.
  const stage = useStage({ ownNode: true });

  before('write the scenario', async () => {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'e2e_least_recent.yaml'), HUNT);
  });

  /** A call that these members refuse in turn, and the last one answers; no other phone rings. */
  async function call(caller: Phone, agents: readonly Phone[], ...order: [...Phone[], Phone]): Promise<void> {
    const outgoing = await caller.call('*55e2e_least_recent');
    await outgoing.answered();
    for (const [at, agent] of order.entries()) {
      const incoming = await agent.incoming();
      const others = agents.filter((each) => each !== agent && each.waitingCalls > 0);
      if (others.length > 0) throw new Error(`${others.map(({ login }) => login).join()} must not ring yet`);
      if (at < order.length - 1) {
        incoming.reject(486);
        continue;
      }
      await incoming.answer();
      await expectTalk(outgoing, incoming);
      await outgoing.hangup();
      await incoming.ended();
    }
  }

  it('rings members by the age of their last call, members without a call first; refusals do not count', async () => {
    const [alice, bob, carol, dave] = await stage.phones('alice', 'bob', 'carol', 'dave');
    const agents = [bob, carol, dave];
    await call(alice, agents, bob);
    await call(alice, agents, carol, dave);
    await call(alice, agents, carol);
    await call(alice, agents, bob, dave, carol);
    await call(alice, agents, bob);
    await call(alice, agents, dave);
  });

  it('returns the caller when all refuse, and keeps the order of the members', async () => {
    const [alice, bob, carol, dave] = await stage.phones('alice', 'bob', 'carol', 'dave');
    const outgoing = await alice.call('*55e2e_least_recent');
    await outgoing.answered();
    for (const agent of [carol, bob, dave]) (await agent.incoming()).reject(486);
    await outgoing.hears(1500);
    await outgoing.hangup();
    await call(alice, [bob, carol, dave], carol);
  });
});
