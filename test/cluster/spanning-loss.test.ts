import { expect } from 'chai';
import { expectTalk } from '../e2e/expectations.ts';
import type { IncomingCall } from '../phones/incoming-call.ts';
import type { OutgoingCall } from '../phones/outgoing-call.ts';
import type { Phone } from '../phones/phone.ts';
import type { Dialog } from '../support/dialog.ts';
import { type EventFeed, followEvents } from '../support/event-feed.ts';
import { eventually } from '../support/eventually.ts';
import { CALLS } from '../support/stage.ts';
import { useCluster } from './support/test-cluster.ts';
import { ends, lit, told, watchesEverywhere } from './support/watching.ts';

/** A call of two phones, one of which has its SIP dialog at another node. */
interface Spanning {
  readonly near: IncomingCall;
  readonly far: IncomingCall;
  readonly dialogid: string;
  /** Position of the node that has the call. */
  readonly owner: number;
  /** Of the node that has the SIP dialog of the far phone. */
  readonly home: number;
}

interface Record {
  readonly dialogid: string;
  readonly result: string;
}

/** drachtio-server answers 481 to what a phone sends when its node is dead. */
const IS_REAL = process.env['RINGMASTER_TEST_DRACHTIO'] !== undefined;

/** With nats-server and PostgreSQL: requireNats. */
describe('calls that span two nodes of a cluster', function () {
  this.timeout(120_000);
  const cluster = useCluster(3);
  let feeds: EventFeed<{ dialogid: string }>[] = [];

  afterEach(() => {
    for (const feed of feeds) feed.close();
    feeds = [];
  });

  const rest = (at: number) => cluster().node(at).rest;
  const list = async (at: number) => (await rest(at).get(CALLS)).json<Dialog[]>();
  const ids = async (at: number) => (await list(at)).map(({ dialogid }) => dialogid).toSorted();
  const counts = async (name: string) =>
    await Promise.all(cluster().nodes.map(async ({ node }) => (await node.health()).counts[name] ?? 0));
  const grown = (before: readonly number[], after: readonly number[]): number =>
    after.findIndex((count, at) => count > (before[at] ?? 0));

  async function connect(from: Phone, to: Phone, number: string) {
    const outgoing = await from.call(number);
    const incoming = await to.incoming();
    await incoming.answer();
    await outgoing.answered();
    return { outgoing, incoming, dialogid: await listed(outgoing) };
  }

  const listed = (call: OutgoingCall): Promise<string> =>
    eventually(async () => {
      const found = (await list(0)).find(({ callids }) => callids.includes(call.callId));
      if (found === undefined) throw new Error('the call is not listed');
      return found.dialogid;
    });

  /** Alice joins her calls with bob and carol, which are at different nodes. */
  async function spanning(alice: Phone, bob: Phone, carol: Phone): Promise<Spanning> {
    const before = { dialogs: await counts('dialogs'), lent: await counts('lent_phones') };
    const first = await connect(alice, bob, '102');
    const one = await counts('dialogs');
    let second = await connect(alice, carol, '103');
    // A real SIP server may give both to the same node.
    while (grown(one, await counts('dialogs')) === grown(before.dialogs, one)) {
      await second.outgoing.hangup();
      await second.incoming.ended();
      await eventually(async () => expect(await counts('dialogs')).to.deep.equal(one));
      second = await connect(alice, carol, '103');
    }
    const body = {
      masterby: '<sip:101@demo.local>',
      slavedialogid: second.dialogid,
      slaveby: '<sip:101@demo.local>',
      response_mode: 4,
    };
    const joined = await rest(0).send('REFERREPLACES', `${CALLS}/${first.dialogid}`, { body });
    const { new_dialogid: dialogid } = joined.json<{ new_dialogid: string }>();
    await Promise.all([first.outgoing.ended(), second.outgoing.ended()]);
    await expectTalk(first.incoming, second.incoming);
    const { owner, home } = await eventually(async () => {
      const found = {
        owner: grown(before.dialogs, await counts('dialogs')),
        home: grown(before.lent, await counts('lent_phones')),
      };
      expect(found.owner).to.not.equal(-1);
      expect(found.home).to.not.equal(-1);
      return found;
    });
    return { near: first.incoming, far: second.incoming, dialogid, owner, home };
  }

  async function phones() {
    return [
      await cluster().knownPhone('alice', 0),
      await cluster().knownPhone('bob', 1),
      await cluster().knownPhone('carol', 1),
    ] as const;
  }

  const everywhere = (living: readonly number[], all: readonly Spanning[]) =>
    eventually(async () => {
      for (const at of living) expect(await ids(at)).to.deep.equal(all.map(({ dialogid }) => dialogid).toSorted());
    }, 15_000);

  /** The call ends for both, by BYE of either phone, or by DELETE at a node. */
  async function end({ near, far, dialogid }: Spanning, by: 'near' | 'far' | number): Promise<void> {
    if (by === 'near') await near.hangup();
    else if (by === 'far') await far.hangup();
    else expect((await rest(by).send('DELETE', `${CALLS}/${dialogid}`)).status).to.equal(200);
    await Promise.all([near.ended(), far.ended()]);
  }

  /** As many calls of each kind: the lost node has it, or the SIP dialog of its far phone, or neither. */
  async function kinds(count: number, lost: number) {
    const [alice, bob, carol] = await phones();
    const found: { owned: Spanning[]; homed: Spanning[]; others: Spanning[] } = { owned: [], homed: [], others: [] };
    while (Object.values(found).some((calls) => calls.length < count)) {
      const call = await spanning(alice, bob, carol);
      const { owner, home } = call;
      const same = owner === lost ? found.owned : home === lost ? found.homed : found.others;
      if (same.length < count) same.push(call);
      else await end(call, 'near');
    }
    const { owned, homed, others } = found;
    return { all: [...owned, ...homed, ...others], owned, homed, others };
  }

  /** Each call ended once: told to subscribers of every node, and in the history. */
  async function expectEnds(all: readonly Spanning[], living: readonly number[]) {
    await eventually(async () => {
      for (const { seen } of feeds)
        for (const { dialogid } of all)
          expect(seen.filter((each) => each.dialogid === dialogid).length, 'end events').to.equal(1);
    });
    for (const at of living) await rest(at).get('/rest/v1/uc/history');
    const records = (await rest(living[0] ?? 0).get('/rest/v1/uc/history', { limit: 200 })).json<Record[]>();
    for (const { dialogid } of all)
      expect(
        records.filter((each) => each.dialogid === dialogid).map(({ result }) => result),
        'records',
      ).to.deep.equal(['answered']);
  }

  async function follow(living: readonly number[]): Promise<void> {
    for (const at of living)
      feeds.push(await followEvents({ node: cluster().node(at).node, rest: () => rest(at) }, 'callevents.call_end'));
  }

  it('talk on when either node dies, with lit lamps, and end by BYE of each phone and DELETE at each node', async () => {
    const { all, owned, homed, others } = await kinds(3, 2);
    const dave = await cluster().knownPhone('dave', 0);
    const lamps = await watchesEverywhere(cluster(), dave, '103', 'dialog');
    const nine = lit(...all.map(() => 'confirmed'));
    for (const lamp of lamps) await told(lamp, nine);
    await follow([0, 1]);
    await cluster().node(2).node.kill();
    await everywhere([0, 1], all);
    for (const { near, far, dialogid } of all) {
      await expectTalk(near, far);
      for (const at of [0, 1])
        expect((await rest(at).send('LOOKUP', CALLS, { body: { dialogid } })).json()).to.deep.equal([dialogid]);
    }
    // Another node goes on with the subscription of the dead one, and tells the same.
    const [, , moved] = lamps;
    expect((await moved?.notifies.next(15_000))?.body).to.satisfy(nine);
    for (const lamp of lamps.slice(0, 2))
      for (let waiting = lamp.notifies.pending; waiting > 0; waiting -= 1)
        expect((await lamp.notifies.next(0)).body, 'a lamp of a call that goes on').to.satisfy(nine);
    if (!IS_REAL)
      for (const [call] of [owned, homed] as [Spanning, ...Spanning[]][])
        for (const phone of [call.near, call.far]) {
          await phone.hold();
          await phone.unhold();
          await expectTalk(call.near, call.far);
        }
    // Its node has lost nothing of a call whose far phone it reaches by itself now.
    const [transferred] = homed as [Spanning, ...Spanning[]];
    const body = { by: '<sip:102@demo.local>', referto: '104', response_mode: 4 };
    const moving = rest(0).send('REFER', `${CALLS}/${transferred.dialogid}`, { body });
    const incoming = await dave.incoming();
    await incoming.answer();
    expect((await moving).json<object>()).to.include({ result: 'ok' });
    await transferred.near.ended();
    await expectTalk(transferred.far, incoming);
    await transferred.far.hangup();
    await incoming.ended();
    const ways = ['near', 'far', 1] as const;
    for (const calls of [owned, others]) for (const [at, call] of calls.entries()) await end(call, ways[at] ?? 0);
    for (const [at, call] of homed.slice(1).entries()) await end(call, ways[at + 1] ?? 0);
    for (const lamp of lamps) await told(lamp, lit());
    await cluster().node(2).node.restart();
    await cluster().joined();
    await everywhere([0, 1, 2], []);
    await expectEnds(all, [0, 1, 2]);
    if (!IS_REAL) await ends(lamps);
  });

  it('talk on when both nodes die, one after the other, and still end once', async () => {
    const { all } = await kinds(1, 2);
    await follow([1]);
    await cluster().node(2).node.kill();
    await everywhere([0, 1], all);
    await cluster().node(0).node.kill();
    await everywhere([1], all);
    for (const [at, call] of all.entries()) {
      await expectTalk(call.near, call.far);
      await end(call, (['near', 'far', 1] as const)[at] ?? 1);
    }
    await everywhere([1], []);
    await Promise.all([0, 2].map((at) => cluster().node(at).node.restart()));
    await cluster().joined();
    await expectEnds(all, [1, 0, 2]);
  });

  it('talk on when one of the nodes has only lost NATS, and who hung up meanwhile is known when it is back', async () => {
    const { all, owned, homed } = await kinds(2, 2);
    await follow([0, 1]);
    cluster().cable.cut();
    await eventually(async () => {
      for (const at of [0, 1])
        expect(await cluster().node(at).node.health()).to.have.nested.property('cluster.nodes', 2);
      for (const at of [0, 1]) expect(cluster().node(at).node.output).to.include('has lost NATS and lives');
    }, 20_000);
    for (const { near, far } of all) await expectTalk(near, far);
    const [byOwner, byHome] = [owned[0], homed[0]] as [Spanning, Spanning];
    for (const { near, far } of [byOwner, byHome]) {
      // The other node is told later.
      await far.hangup();
      expect(near.live).to.equal(true);
    }
    cluster().cable.mend();
    await cluster().joined();
    await Promise.all([byOwner.near.ended(), byHome.near.ended()]);
    const left = all.filter((call) => call !== byOwner && call !== byHome);
    await everywhere([0, 1, 2], left);
    for (const [at, call] of left.entries()) await end(call, (['near', 'far', 0, 1] as const)[at] ?? 0);
    await everywhere([0, 1, 2], []);
    await expectEnds(all, [0, 1, 2]);
  });

  it('are with their nodes again when a node was not dead, but stood still, and talk on when it dies then', async () => {
    const { all, owned, homed, others } = await kinds(2, 2);
    await follow([0, 1]);
    const { pid = 0 } = cluster().node(2).node;
    process.kill(pid, 'SIGSTOP');
    try {
      await eventually(async () => {
        for (const at of [0, 1]) expect(cluster().node(at).node.output).to.include('is gone');
        expect(await ids(0)).to.have.lengthOf(all.length);
        expect(await ids(1)).to.have.lengthOf(all.length);
      }, 20_000);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await cluster().joined();
    await everywhere([0, 1, 2], all);
    for (const { near, far } of [...owned, ...homed]) {
      await expectTalk(near, far);
      await far.hold();
      await far.unhold();
      await expectTalk(near, far);
    }
    await cluster().node(2).node.kill();
    await everywhere([0, 1], all);
    for (const calls of [owned, homed, others]) {
      const [one, other] = calls as [Spanning, Spanning];
      await end(one, 'far');
      await end(other, 1);
    }
    await cluster().node(2).node.restart();
    await cluster().joined();
    await everywhere([0, 1, 2], []);
    await expectEnds(all, [0, 1, 2]);
  });
});
