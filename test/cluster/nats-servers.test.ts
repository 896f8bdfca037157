import { expect } from 'chai';
import { WebSocket } from 'ws';
import { expectTalk } from '../e2e/expectations.ts';
import type { IncomingCall } from '../phones/incoming-call.ts';
import type { OutgoingCall } from '../phones/outgoing-call.ts';
import type { Dialog } from '../support/dialog.ts';
import { type EventFeed, followEvents } from '../support/event-feed.ts';
import { eventually } from '../support/eventually.ts';
import { CALLS } from '../support/stage.ts';
import { NatsServers } from './support/nats-servers.ts';
import { type ClusterNode, requireServers, TestCluster } from './support/test-cluster.ts';

const NODES = 3;
/** Milliseconds in which a node connects to another server, on a machine that is busy with other tests. */
const CONNECT_MS = 3000;
/** Milliseconds after which a node counts as cut off, as nothing is stored, and some to notice it. */
const ALONE_MS = 25_000;
/** Milliseconds in which a node follows the events: NATS may leave some requests without an answer, for each of which it waits two seconds. */
const FOLLOWED_MS = 8000;
/** Milliseconds in which the servers choose who stores: 4 to 9 s, and some times again where a choice fails, as NATS 2.9 makes it. */
const ELECTION_MS = 60_000;
/** Milliseconds in which a server that started again has all that the others have. */
const COMPLETE_MS = 60_000;

interface Kept {
  readonly of: { readonly entry: { readonly view: Pick<Dialog, 'dialogid' | 'status'> } };
}

/** With nats-server and PostgreSQL: requireNats. */
describe('a cluster over three NATS servers', function () {
  this.timeout(150_000);
  let nats: NatsServers | undefined;
  let made: TestCluster | undefined;
  let socket: WebSocket | undefined;
  const feeds: EventFeed<{ dialogid: string }>[] = [];

  before(async function () {
    this.timeout(120_000);
    await requireServers(this);
    nats = await NatsServers.start(2);
    made = await TestCluster.start(NODES, [], nats);
  });
  afterEach(async () => {
    for (const feed of feeds.splice(0)) feed.close();
    socket?.close();
    socket = undefined;
    await made?.stopPhones();
  });
  after(async function () {
    this.timeout(60_000);
    await (made ?? nats)?.remove();
  });

  const cluster = (): TestCluster => made ?? expect.fail();
  const servers = (): NatsServers => nats ?? expect.fail();

  /** What a node answers to a list of calls: its length, or the status. */
  async function listed(at: number): Promise<string> {
    const reply = await cluster().node(at).rest.get(CALLS);
    return reply.status === 200 ? `${reply.json<Dialog[]>().length} calls` : String(reply.status);
  }

  const ids = async (at: number): Promise<readonly string[]> =>
    (await cluster().node(at).rest.get(CALLS)).json<Dialog[]>().map(({ dialogid }) => dialogid);

  /** The position of the server that stores a stream, once each of the others could do it. */
  const leaderOf = async (stream: string): Promise<number> =>
    await eventually(async () => {
      const all = Object.values(await servers().streams());
      expect(all.filter(({ copies, complete }) => copies < NODES || !complete)).to.deep.equal([]);
      return (await servers().streams())[stream]?.leader ?? expect.fail(`no stream ${stream}`);
    }, COMPLETE_MS);

  it('has three copies of all, though one of them came after the nodes', async () => {
    await servers().start();
    await eventually(async () => {
      const streams = await servers().streams();
      expect(Object.keys(streams)).to.include.members([
        'KV_ringmaster_members',
        'KV_ringmaster_calls',
        'ringmaster_events',
      ]);
      expect(Object.values(streams).filter(({ copies }) => copies !== NODES)).to.deep.equal([]);
    }, 30_000);
  });

  for (const [stores, bucket] of [
    ['heartbeats', 'ringmaster_members'],
    ['calls', 'ringmaster_calls'],
  ] as const)
    it(`goes on while the server is gone that stores the ${stores}`, async () => {
      const stream = `KV_${bucket}`;
      const [alice, bob] = [await cluster().knownPhone('alice', 0), await cluster().knownPhone('bob', 1)];
      const talk = async () => {
        const outgoing = await alice.call('102');
        const incoming = await bob.incoming();
        await incoming.answer();
        await outgoing.answered();
        return { outgoing, incoming };
      };
      const first = await talk();
      for (const { node, rest } of cluster().nodes)
        feeds.push(await followEvents({ node, rest: () => rest }, 'callevents.call_end'));
      const leader = await leaderOf(stream);
      await servers().servers[leader]?.stop('SIGKILL');
      const killed = performance.now();
      for (let calls = 1; calls <= NODES; calls += 1) await talk();
      // It may still be connecting to another server.
      const known = await eventually(async () => await ids(0), CONNECT_MS);
      const short = await talk();
      const [over] = (await ids(0)).filter((id) => !known.includes(id));
      await short.outgoing.hangup();
      const answers = new Set<string>();
      while (performance.now() - killed < CONNECT_MS + 2000)
        for (let at = 0; at < NODES; at += 1) {
          const answer = await listed(at);
          if (performance.now() - killed > CONNECT_MS) answers.add(answer);
        }
      expect([...answers]).to.deep.equal([`${NODES + 1} calls`]);

      // What the nodes told while nobody stored, and what happened then.
      const before = await ids(0);
      await eventually(async () => {
        const kept = await servers().values<Kept>('ringmaster_calls');
        const view = kept.map(({ of }) => of.entry.view);
        expect(view.map(({ dialogid }) => dialogid)).to.have.members(before);
        expect(view.map(({ status }) => status)).to.deep.equal(before.map(() => 'dialog'));
      }, ELECTION_MS);
      await eventually(async () => {
        for (const { seen } of feeds) expect(seen.map(({ dialogid }) => dialogid)).to.deep.equal([over]);
      }, ELECTION_MS);
      await expectTalk(first.outgoing, first.incoming);
      await servers().start();
      await cluster().node(0).rest.send('DELETE', `${CALLS}?from=101`);
      await eventually(async () => expect(await ids(0)).to.deep.equal([]));
      await cluster().joined();
      // NATS stores these when its servers agree again.
      await eventually(async () => {
        for (const { seen } of feeds) expect(seen.map(({ dialogid }) => dialogid)).to.have.members([...before, over]);
      }, ELECTION_MS);
    });

  it('is one system again when a subscriber hears that NATS is back, of which two servers were gone', async () => {
    await servers().start();
    const [alice, bob] = [await cluster().knownPhone('alice', 0), await cluster().knownPhone('bob', 1)];
    await leaderOf('ringmaster_events');
    const [{ node, rest }] = cluster().nodes as [ClusterNode];
    const told: string[] = [];
    let subscriptions = 0;
    socket = new WebSocket(`${node.base.replace('http', 'ws')}/ws`, { headers: rest.authorization });
    const subscribe = (): void =>
      socket?.send(JSON.stringify(['subscribe', { qid: '1', id: 'desk', events: ['callevents'], expires: 600 }]));
    socket.on('open', subscribe);
    socket.on('message', (text: Buffer) => {
      const [method, { reason }] = JSON.parse(text.toString()) as [string, { reason?: string }];
      if (method === 'unsubscribed') {
        subscribe();
        void listed(0).then((answer) => told.push(`${reason}: ${answer}`));
      } else if (method === 'subscribe_result') subscriptions += 1;
    });
    await eventually(async () => expect(subscriptions).to.equal(1));
    await Promise.all(
      servers()
        .servers.slice(1)
        .map((server) => server.stop('SIGKILL')),
    );
    // Each node has an event that NATS does not store.
    for (let at = 0; at < NODES; at += 1) {
      const outgoing = await alice.call('102');
      (await bob.incoming()).reject(486);
      await outgoing.refused();
    }
    await eventually(async () => expect(told).to.have.lengthOf(1), ALONE_MS);
    expect(told.pop()).to.match(/^NATS is away: /);
    // A subscriber may hear it a moment before the node counts as cut off.
    await eventually(async () => expect(await listed(0)).to.equal('503'), ALONE_MS);
    await servers().servers[1]?.start();
    const back = 'NATS is back: events of all nodes come again: 0 calls';
    await eventually(async () => expect(told).to.deep.equal([back]), ELECTION_MS);
    const heard = performance.now();
    await eventually(async () => expect(subscriptions).to.equal(3));
    expect(performance.now() - heard).to.be.lessThan(FOLLOWED_MS);
  });

  it('takes care of a node that is lost with the server that stores the heartbeats, after the choice of another one', async () => {
    await servers().start();
    // A server that just came back tells what it copies, also what was over long ago.
    await leaderOf('KV_ringmaster_calls');
    const [alice, bob] = [await cluster().knownPhone('alice', 0), await cluster().knownPhone('bob', 1)];
    const calls: { outgoing: OutgoingCall; incoming: IncomingCall }[] = [];
    for (let at = 0; at < NODES; at += 1) {
      const outgoing = await alice.call('102');
      const incoming = await bob.incoming();
      await incoming.answer();
      await outgoing.answered();
      calls.push({ outgoing, incoming });
    }
    const before = await eventually(async () => {
      const kept = await servers().values<Kept>('ringmaster_calls');
      const talking = kept.filter(({ of }) => of.entry.view.status === 'dialog');
      expect(talking).to.have.lengthOf(NODES);
      return talking.map(({ of }) => of.entry.view.dialogid);
    });
    const leader = await leaderOf('KV_ringmaster_members');
    const settled = await cluster().settled();
    await Promise.all([
      servers().servers[leader]?.stop('SIGKILL'),
      cluster()
        .node(NODES - 1)
        .node.kill(),
    ]);
    await eventually(async () => {
      expect(await cluster().settled()).to.equal(settled + 1);
      for (let at = 0; at < NODES - 1; at += 1) expect(await ids(at)).to.have.members(before);
    }, ELECTION_MS);
    for (const { outgoing, incoming } of calls) await expectTalk(outgoing, incoming);
    await cluster().node(0).rest.send('DELETE', `${CALLS}?from=101`);
    await eventually(async () => expect(calls.filter(({ outgoing }) => outgoing.live)).to.deep.equal([]));
  });
});
