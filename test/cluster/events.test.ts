import { setTimeout as delay } from 'node:timers/promises';
import { jetstreamManager, type StreamConfig } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { expect } from 'chai';
import { Subscribers } from '../../rest-bridge/events/subscribers.ts';
import { Cluster } from '../../runtime/cluster/cluster.ts';
import { readConfig } from '../../runtime/config/index.ts';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { type Delivery, EventBus } from '../../runtime/events/index.ts';
import type { Session } from '../../runtime/iam/index.ts';
import { eventually } from '../support/eventually.ts';
import { silentLog } from '../support/log.ts';
import { NatsServer, requireNats } from './support/nats-server.ts';

const DOMAIN = asDomainName('one.test');
const OTHER = asDomainName('other.test');
/** Followed, so that its events are sent. */
const FENCE = asDomainName('fence.test');
const session = (domain = DOMAIN) => ({ userId: 'u1', domain }) as unknown as Session;

/** A client of a node. */
class Client {
  readonly got: Delivery[] = [];
  readonly reasons: string[] = [];

  readonly sinkOf = () => (delivery: Delivery) => void this.got.push(delivery);
  readonly ended = (_id: string, reason: string) => void this.reasons.push(reason);

  get numbers(): readonly number[] {
    return this.got.map(({ seq }) => seq);
  }

  get told(): readonly unknown[] {
    return this.got.map(({ event }) => event.data['n']);
  }
}

/** What a node has of events. */
class EventNode {
  readonly bus = new EventBus({
    onListenerError: (error) => {
      throw error;
    },
  });
  readonly cluster: Cluster;
  readonly subscribers: Subscribers;

  private constructor(cluster: Cluster) {
    this.cluster = cluster;
    const iam = { allows: () => true, watch: () => () => undefined };
    const shared = cluster.shareEvents(this.bus);
    this.subscribers = new Subscribers(shared, iam, {}, shared);
  }

  static async start(url: string, name: string): Promise<EventNode> {
    const env = { DATABASE_URL: 'postgres://localhost/x', RINGMASTER_NODE: name, RINGMASTER_CLUSTER: url };
    const node = new EventNode(await Cluster.open(readConfig(env).cluster ?? expect.fail(), silentLog));
    await node.cluster.join(() => ({
      site: 'main',
      roles: [],
      version: '0',
      http: '',
      started: 0,
      state: 'accepting',
      load: { calls: 0, runs: 0, subscriptions: 0 },
    }));
    return node;
  }

  publish(n: number | string, type = 'call_init', domain = DOMAIN): void {
    this.bus.publish({ domain, class: 'callevents', type, data: { n } });
  }

  async subscribe(client: Client, asked: object, domain = DOMAIN) {
    const given = { id: 'desk', ...asked };
    await this.subscribers.prepare?.(session(domain), given);
    return this.subscribers.subscribe(session(domain), given, client);
  }

  async close(): Promise<void> {
    this.subscribers.close();
    await this.cluster.leave();
    await this.cluster.close();
  }
}

const upTo = (last: number, first = 1): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

describe('the events of a cluster', function () {
  this.timeout(60_000);
  let nats: NatsServer;
  let nodes: EventNode[] = [];

  before(async function () {
    requireNats(this);
    nats = await NatsServer.start();
  });
  afterEach(async () => {
    for (const node of nodes) await node.close();
    nodes = [];
  });
  after(() => nats?.remove());

  async function started(count: number): Promise<readonly [EventNode, EventNode, EventNode]> {
    for (let at = 0; at < count; at += 1) nodes.push(await EventNode.start(nats.url, `n${at + 1}`));
    const [first, second, third] = nodes;
    // Numbers from 1 are those of nodes that see each other.
    for (const node of nodes) {
      const ready = new Client();
      await eventually(async () => {
        expect((await node.subscribe(ready, { id: `ready-${nodes.indexOf(node)}` })).seq).to.equal(0);
      });
      node.subscribers.end(session(), `ready-${nodes.indexOf(node)}`);
    }
    return [first as EventNode, second as EventNode, third as EventNode];
  }

  /** Number of the last message of the stream. */
  async function stored(): Promise<number> {
    const connection = await connect({ servers: nats.url });
    const { state } = await (await jetstreamManager(connection)).streams.info('ringmaster_events');
    await connection.close();
    return state.last_seq;
  }

  /** Waits until no node sends events of a domain that nobody follows. */
  async function quiet(): Promise<void> {
    const [first] = nodes as [EventNode];
    const fence = new Client();
    await first.subscribe(fence, { id: 'fence' }, FENCE);
    await eventually(async () => {
      const [before, heard] = [await stored(), fence.got.length];
      const domain = asDomainName(`${Math.random()}.test`);
      for (const node of nodes) node.publish(0, 'call_init', domain);
      // A node sends what it sends in the order of its domains: with these the others are stored, too.
      for (const node of nodes) node.publish(0, 'call_init', FENCE);
      await eventually(async () => expect(fence.got.length).to.equal(heard + nodes.length));
      expect(await stored(), 'messages beside those of the fence').to.equal(before + nodes.length);
    }, 20_000);
    first.subscribers.end(session(FENCE), 'fence');
  }

  it('are sent where somebody follows their domain, and from the answer to a subscription on none is missing', async () => {
    const [first, second, third] = await started(3);
    await quiet();
    for (let round = 0; round < 10; round += 1) {
      const domain = asDomainName(`race-${round}.test`);
      let [published, isOver] = [0, false];
      const publishing = (async () => {
        while (!isOver) {
          published += 1;
          (published % 2 === 0 ? second : third).publish(published, 'call_init', domain);
          await new Promise(setImmediate);
        }
      })();
      const client = new Client();
      await first.subscribe(client, {}, domain);
      const begun = published;
      await delay(20);
      isOver = true;
      await publishing;
      // The last ones of both nodes.
      await eventually(async () => expect(client.told).to.include.members([published - 1, published]));
      // Of those before the answer, some may come.
      const told = client.told.map(Number).filter((n) => n > begun);
      expect(told.toSorted((a, b) => a - b)).to.deep.equal(upTo(published, begun + 1));
    }
  });

  it('are kept for a subscriber whose node has died, though nobody else follows the domain', async () => {
    const [first, second, third] = await started(3);
    await quiet();
    const client = new Client();
    await first.subscribe(client, {});
    second.publish(1);
    await eventually(async () => expect(client.told).to.deep.equal([1]));
    await nodes.shift()?.cluster.close();
    for (let n = 2; n <= 20; n += 1) second.publish(n);
    // A node that starts now knows from the bucket that the domain is followed.
    const late = await EventNode.start(nats.url, 'n4');
    nodes.push(late);
    await quiet();
    late.publish(21);
    const again = new Client();
    expect(await third.subscribe(again, { after: 1 })).to.include({ resumed: true });
    await eventually(async () =>
      expect(again.told.toSorted((a, b) => Number(a) - Number(b))).to.deep.equal(upTo(21, 2)),
    );
  });

  it('reach runs of other nodes once, by the messages that subscribers get', async () => {
    const [first, second] = await started(2);
    await quiet();
    const heard: unknown[] = [];
    const runs = first.cluster.runEvents(first.bus);
    const kind = { domain: DOMAIN, class: 'callevents', type: 'call_end' };
    const stop = runs.subscribe(kind, ({ data }) => heard.push(data['n']));
    // Its node asks the others for the events.
    await eventually(async () => {
      second.publish('ready', 'call_end');
      expect(heard).to.include('ready');
    });
    const client = new Client();
    await first.subscribe(client, {});
    // Those before it come before it, to runs and into the stream.
    second.publish('last', 'call_end');
    await eventually(async () => {
      expect(heard).to.include('last');
      expect(client.told).to.include('last');
    });
    const [before, length, got] = [await stored(), heard.length, client.got.length];
    second.publish(1, 'call_end');
    second.publish(2);
    first.publish(3, 'call_end');
    await eventually(async () => expect(client.got.length).to.equal(got + 3));
    await eventually(async () => expect(heard.slice(length)).to.have.members([1, 3]));
    expect((await stored()) - before, 'messages').to.be.at.most(3);
    stop();
  });

  it('come to subscribers of all nodes in the same order, numbered without gaps', async () => {
    const [first, second, third] = await started(3);
    const clients = [new Client(), new Client(), new Client(), new Client()];
    for (const [at, node] of nodes.entries()) await node.subscribe(clients[at] ?? expect.fail(), { id: `desk-${at}` });
    await first.subscribe(clients[3] ?? expect.fail(), { id: 'other' }, OTHER);
    for (let n = 0; n < 200; n += 1) {
      for (const [at, node] of [first, second, third].entries()) node.publish(`${at}-${n}`);
      second.publish(n, 'call_end', OTHER);
      if (n % 20 === 0) await new Promise(setImmediate);
    }
    await eventually(async () => expect(clients.map(({ got }) => got.length)).to.deep.equal([600, 600, 600, 200]));
    const [one, two, three, other] = clients;
    expect(one?.numbers).to.deep.equal(upTo(600));
    expect(two?.told).to.deep.equal(one?.told);
    expect(three?.told).to.deep.equal(one?.told);
    expect(other?.told).to.deep.equal(upTo(199, 0));
    for (const at of [0, 1, 2]) {
      const own = one?.told.filter((n) => String(n).startsWith(`${at}-`));
      expect(own, 'the order of a node').to.deep.equal(upTo(199, 0).map((n) => `${at}-${n}`));
    }
  });

  it('are made on demand where a subscriber of any node wants them', async () => {
    const [first, second] = await started(2);
    const client = new Client();
    const { id } = await first.subscribe(client, { events: ['runevents'] });
    await eventually(async () => expect(second.bus.isDemanded(DOMAIN)).to.equal(true));
    expect(second.bus.isDemanded(OTHER)).to.equal(false);
    for (const [at, node] of [first, second].entries())
      node.bus.publish({ domain: DOMAIN, class: 'runevents', type: 'run_begin', data: { n: at } });
    await eventually(async () => expect(client.told).to.have.members([0, 1]));
    const other = new Client();
    await second.subscribe(other, { id: 'all' });
    first.bus.publish({ domain: DOMAIN, class: 'runevents', type: 'run_end', data: { n: 2 } });
    second.publish(3);
    await eventually(async () => expect(other.told, 'only those who name them get them').to.deep.equal([3]));
    first.subscribers.end(session(), id);
    await eventually(async () => expect(nodes.map(({ bus }) => bus.isDemanded(DOMAIN))).to.deep.equal([false, false]));
  });

  it('resume by number at another node without a gap or a double, and the former connection is told', async () => {
    const [first, second, third] = await started(3);
    const events = ['callevents.call_end'];
    const before = new Client();
    const began = await first.subscribe(before, { events });
    expect(began).to.include({ resumed: true, seq: 0 });
    for (let n = 1; n <= 100; n += 1) {
      third.publish(-n);
      third.publish(n, 'call_end');
    }
    await eventually(async () => expect(before.told).to.deep.equal(upTo(100)));
    // The client lost its connection after number 60.
    const after = new Client();
    const resumed = await second.subscribe(after, { events, after: 60 });
    expect(resumed).to.include({ resumed: true, seq: 100 });
    for (let n = 101; n <= 120; n += 1) (n % 2 === 0 ? first : third).publish(n, 'call_end');
    await eventually(async () => expect(after.got.length).to.equal(60));
    expect(after.numbers).to.deep.equal(upTo(120, 61));
    expect(after.told.toSorted((a, b) => Number(a) - Number(b))).to.deep.equal(upTo(120, 61));
    await eventually(async () => expect(before.reasons).to.deep.equal(['another connection took it over']));
    // And once more, while events come, at the first node: it knows nothing of it any more.
    const last = new Client();
    for (let n = 121; n <= 150; n += 1) third.publish(n, 'call_end');
    expect(await first.subscribe(last, { after: 110 })).to.include({ resumed: true });
    for (let n = 151; n <= 160; n += 1) third.publish(n, 'call_end');
    await eventually(async () => expect(last.told).to.deep.equal([...after.told.slice(50, 60), ...upTo(160, 121)]));
    expect(last.numbers).to.deep.equal(upTo(160, 111));
  });

  it('resume after the death of the node', async () => {
    const [first, second] = await started(2);
    const client = new Client();
    await first.subscribe(client, {});
    for (let n = 1; n <= 10; n += 1) second.publish(n);
    await eventually(async () => expect(client.told).to.deep.equal(upTo(10)));
    await nodes.shift()?.cluster.close();
    for (let n = 11; n <= 20; n += 1) second.publish(n);
    const again = new Client();
    expect(await second.subscribe(again, { after: 8 })).to.include({ resumed: true });
    await eventually(async () => expect(again.told).to.deep.equal(upTo(20, 9)));
  });

  it('come at once though NATS does not store who follows them, also those of a node that starts later', async () => {
    const [first, second] = await started(2);
    await quiet();
    const connection = await connect({ servers: nats.url });
    const { streams } = await jetstreamManager(connection);
    const sealed: Partial<StreamConfig> = { sealed: true };
    await streams.update('KV_ringmaster_followed', sealed);
    const client = new Client();
    await first.subscribe(client, {}, OTHER);
    second.publish(1, 'call_init', OTHER);
    await eventually(async () => expect(client.told).to.deep.equal([1]));
    const third = await EventNode.start(nats.url, 'n3');
    nodes.push(third);
    // It sends everything at first.
    await quiet();
    third.publish(2, 'call_init', OTHER);
    await eventually(async () => expect(client.told).to.deep.equal([1, 2]));
    await streams.delete('KV_ringmaster_followed');
    await connection.close();
  });

  it('say that events were lost when the number is too old, unknown or ended', async () => {
    const [first, second] = await started(2);
    const client = new Client();
    await first.subscribe(client, {});
    for (let n = 1; n <= 4500; n += 1) {
      second.publish(n);
      if (n % 100 === 0) await eventually(async () => expect(client.got.length).to.equal(n));
    }
    expect(await second.subscribe(new Client(), { after: 5 })).to.include({ resumed: false, seq: 0 });
    expect(await second.subscribe(new Client(), { id: 'new', after: 5 })).to.include({ resumed: false });
    await first.subscribe(client, { id: 'ended' });
    first.publish(4501);
    await eventually(async () => expect(client.got.length).to.be.greaterThan(4500));
    first.subscribers.end(session(), 'ended');
    await eventually(async () =>
      expect(await second.subscribe(new Client(), { id: 'ended', after: 1 })).to.include({ resumed: false }),
    );
  });

  it('go on without NATS, as those of the node alone; subscribers are told that events are missing', async () => {
    const [first, second] = await started(2);
    const [one, two] = [new Client(), new Client()];
    await first.subscribe(one, { id: 'one' });
    await second.subscribe(two, { id: 'two' });
    await nats.stop();
    await eventually(async () =>
      expect([one.reasons, two.reasons]).to.deep.equal([['NATS is away'], ['NATS is away']]),
    );
    const [lonely, apart] = [new Client(), new Client()];
    const { seq } = await first.subscribe(lonely, { id: 'one' });
    await second.subscribe(apart, { id: 'two' });
    first.publish('alone');
    expect([lonely.told, apart.told]).to.deep.equal([['alone'], []]);
    await nats.start();
    const again = ['NATS is back: events of all nodes come again'];
    await eventually(async () => expect([lonely.reasons, apart.reasons]).to.deep.equal([again, again]));
    const [back, other] = [new Client(), new Client()];
    expect(await second.subscribe(back, { id: 'one', after: seq + 1 })).to.include({ resumed: false });
    await first.subscribe(other, { id: 'two' });
    second.publish('together');
    await eventually(async () => {
      expect(back.told.at(-1)).to.equal('together');
      expect(other.told.at(-1)).to.equal('together');
    });
  });
});
