import { expect } from 'chai';
import { expectTalk } from '../e2e/expectations.ts';
import type { OutgoingCall } from '../phones/outgoing-call.ts';
import type { Dialog } from '../support/dialog.ts';
import { followEvents } from '../support/event-feed.ts';
import { eventually } from '../support/eventually.ts';
import { CALLS } from '../support/stage.ts';
import { NOBODY, parks, removeParkingScenarios, retrieves, TAKEN, writeParkingScenarios } from './support/parking.ts';
import { useSharedCluster } from './support/test-cluster.ts';

/** With nats-server and PostgreSQL: requireNats. */
describe('parked calls of a cluster', function () {
  this.timeout(60_000);
  const cluster = useSharedCluster();
  /** Calls of each node itself. */
  const own = () => Promise.all(cluster().nodes.map(async ({ node }) => (await node.health()).counts['dialogs'] ?? 0));

  let written = false;
  before('write the scenarios', async () => {
    await writeParkingScenarios(cluster());
    written = true;
  });
  after('remove them', async () => {
    if (written) await removeParkingScenarios(cluster());
  });

  afterEach(() =>
    eventually(async () => {
      for (const { rest } of cluster().nodes) expect((await rest.get(CALLS)).json<Dialog[]>()).to.deep.equal([]);
    }),
  );

  it('are retrieved by a phone whose call is at any node', async () => {
    const [alice, bob] = [await cluster().knownPhone('alice', 0), await cluster().knownPhone('bob', 1)];
    // SIP servers give calls to the nodes in turn.
    for (let at = 0; at < 3; at += 1) {
      const parked = await parks(alice, 'lot');
      const before = await own();
      const out = await retrieves(bob);
      await expectTalk(parked, out);
      expect(before.filter((count) => count > 0)).to.deep.equal([1]);
      await out.hangup();
      await parked.ended();
    }
  });

  it('wait in one slot each, also at different nodes, and a slot is free again afterwards', async () => {
    const [alice, bob, carol] = [
      await cluster().knownPhone('alice', 0),
      await cluster().knownPhone('bob', 0),
      await cluster().knownPhone('carol', 1),
    ];
    const first = await parks(alice, 'lot');
    for (const phone of [bob, carol]) {
      const second = await phone.call('*55parked_lot');
      await second.answered();
      await second.hears(TAKEN);
      await second.hangup();
    }
    await first.hangup();
    const out = await retrieves(carol);
    await out.hears(NOBODY);
    await out.hangup();
    await (await parks(bob, 'lot')).hangup();
  });

  it('get slots of their own without asking for one', async () => {
    const { node, rest } = cluster().node(0);
    const events = await followEvents<{ slot: string }>({ node, rest: () => rest }, 'scenarioevents.call_parked');
    const phones = [
      await cluster().knownPhone('alice', 0),
      await cluster().knownPhone('bob', 0),
      await cluster().knownPhone('carol', 0),
    ];
    const calls: OutgoingCall[] = [];
    for (const phone of phones) calls.push(await parks(phone, 'anywhere'));
    expect(await own()).to.deep.equal([1, 1, 1]);
    await eventually(async () => expect(events.seen).to.have.lengthOf(3));
    expect(events.seen.map(({ slot }) => slot).toSorted()).to.deep.equal(['701', '702', '703']);
    events.close();
    for (const call of calls) await call.hangup();
  });
});
