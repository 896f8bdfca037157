import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { useStage } from '../support/stage.ts';

const QUEUE = `
id: e2e_queue
start: pick_up
blocks:
  pick_up: { answer: , next: line }
  line:
    queue: { name: e2e, announce: 1s, sounds: "tone:%(500,0,1500)" }
    exits: { turn: turn, announce: tell }
  tell: { play: "tone:%(600,0,2000)", next: line }
  turn: { play: "tone:%(20000,0,1000)", next: end }
`;

describe('component queue on calls', () => {
  const stage = useStage();

  before('write the scenario', async () => {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'e2e_queue.yaml'), QUEUE);
  });

  it('serves callers in order, with music and announcements while they wait', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const first = await alice.call('*55e2e_queue');
    await first.answered();
    await first.hears(1000);
    const second = await bob.call('*55e2e_queue');
    await second.answered();
    await second.hears(1500);
    await second.hears(2000);
    await second.hears(1500);
    await first.hangup();
    await second.hears(1000);
    await second.hangup();
    expect((await second.ended()).by).to.equal('here');
  });
});
