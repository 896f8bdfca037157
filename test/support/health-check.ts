import { expect } from 'chai';
import { expectTalk } from '../e2e/expectations.ts';
import { eventually } from './eventually.ts';
import type { Stage } from './stage.ts';

/** Counts that are kept for 32 s to absorb retransmissions (RFC 3261, timers H, J and I), and totals. */
const PASSING = /transactions|timers|packets|lateness/i;

/**
 * After each test of this `describe`, inside that of the stage: the node answers, all counts are zero, and two phones can
 * talk.
 */
export function useHealthCheck(stage: Stage): void {
  let idle: Readonly<Record<string, number>>;
  before(async () => {
    idle = await counts();
  });
  afterEach('the node is healthy', async function () {
    this.timeout(60_000);
    expect(await stage.clear()).to.deep.equal([]);
    await stage.expectNoDialog();
    await eventually(async () => expect(await counts()).to.deep.equal(idle), 10_000);
    expect(stage.node.output).to.not.match(/"level":(50|60)/);
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    await expectTalk(outgoing, incoming);
    await outgoing.hangup();
    await incoming.ended();
  });

  async function counts(): Promise<Readonly<Record<string, number>>> {
    const health = await stage.node.health();
    expect(health.status).to.equal('ok');
    return Object.fromEntries(Object.entries(health.counts).filter(([name]) => !PASSING.test(name)));
  }
}
