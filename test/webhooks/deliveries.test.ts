import { expect } from 'chai';
import { AddressGuard } from '../../components/index.ts';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { type LiveDirectory, openDirectory } from '../../runtime/domain/index.ts';
import { EventBus } from '../../runtime/events/index.ts';
import { sql, type Storage, StorageUnavailableError } from '../../runtime/storage/index.ts';
import { DAY_MS } from '../../runtime/webhooks/back-off.ts';
import { type DeliveryResult, webhookCheck, Webhooks } from '../../runtime/webhooks/index.ts';
import { Outbox } from '../../runtime/webhooks/outbox.ts';
import { DeliveryQueue, type NewDelivery } from '../../runtime/webhooks/queue.ts';
import { clear, describePostgres, describeStorages } from '../storage/support/storages.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, Receiver } from './receiver.ts';

const DOMAIN = asDomainName('one.test');
const WITHIN_MS = 20_000;

/** A node's webhooks over a database. */
class Sender {
  readonly events = new EventBus({
    onListenerError: (error) => {
      throw error;
    },
  });
  readonly results: DeliveryResult[] = [];
  readonly directory: LiveDirectory;
  webhooks!: Webhooks;
  readonly #storage: Storage;

  private constructor(storage: Storage, directory: LiveDirectory) {
    this.#storage = storage;
    this.directory = directory;
  }

  static async start(storage: Storage): Promise<Sender> {
    const addresses = new AddressGuard(['127.0.0.1']);
    const directory = await openDirectory(storage, { checkWebhook: webhookCheck(addresses) });
    const sender = new Sender(storage, directory);
    await sender.open();
    return sender;
  }

  async open(): Promise<void> {
    this.webhooks = await Webhooks.open({
      storage: this.#storage,
      directory: this.directory,
      events: this.events,
      addresses: new AddressGuard(['127.0.0.1']),
      observe: (result) => this.results.push(result),
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    });
  }

  webhook(url: string, fields: object = {}) {
    return this.directory.collections.webhooks.create({ domain_id: 'd1', url, events: ['callevents'], ...fields });
  }

  publish(type: string, data: Readonly<Record<string, string>> = {}, domain = DOMAIN): void {
    this.events.publish({ domain, class: 'callevents', type, data });
  }

  deliveries(webhookId: string) {
    return this.webhooks.deliveries.select({ equal: { webhook_id: webhookId } });
  }

  async state(id: string) {
    const webhook = await this.directory.collections.webhooks.get(id);
    return { enabled: webhook?.enabled, ...webhook?.state };
  }
}

async function withDomains(storage: Storage): Promise<void> {
  await clear(storage);
  const directory = await openDirectory(storage);
  await directory.collections.domains.create({ id: 'd1', name: 'one.test' });
  await directory.collections.domains.create({ id: 'd2', name: 'two.test' });
}

describeStorages('deliveries of webhooks', (newPlace) => {
  let storage: Storage;
  let sender: Sender;
  let receiver: Receiver;
  let answer: Answer;
  before(async () => {
    storage = await (await newPlace()).shared();
    receiver = await Receiver.start((received) => answer(received));
  });
  beforeEach(async () => {
    answer = () => 200;
    receiver.received.length = 0;
    await withDomains(storage);
    sender = await Sender.start(storage);
  });
  afterEach(() => sender.webhooks.close());
  after(async () => {
    receiver.close();
    await clear(storage);
  });

  const at = (path: string): string => `${receiver.base}${path}`;
  const arrived = (path: string, count: number) =>
    eventually(async () => {
      expect(receiver.of(path).length).to.equal(count);
      return receiver.of(path);
    }, WITHIN_MS);

  it('have the selected events of their domain, and nothing is subscribed without a webhook', async () => {
    expect(sender.events.listeners).to.equal(0);
    const exargs = { filter: { reason: 'busy' }, mask: 'dialogid' };
    const { id } = await sender.webhook(at('/ends'), { events: ['callevents.call_end'], exargs });
    expect(sender.events.listeners).to.equal(1);
    sender.publish('call_init', { dialogid: '1', reason: 'busy' });
    sender.publish('call_end', { dialogid: '2', reason: 'bye' });
    sender.publish('call_end', { dialogid: '3', reason: 'busy' }, asDomainName('two.test'));
    sender.publish('call_end', { dialogid: '4', reason: 'busy' });
    const [received] = await arrived('/ends', 1);
    const { timestamp, ...body } = JSON.parse(received?.body ?? '') as Record<string, unknown>;
    expect(body).to.deep.equal({ type: 'callevents.call_end', domain: 'one.test', data: { dialogid: '4' } });
    expect(timestamp).to.match(/^\d{4}-\d\d-\d\dT/);
    await eventually(async () => expect((await sender.state(id)).status).to.equal('ok'), WITHIN_MS);
    const [delivery, ...others] = await sender.deliveries(id);
    expect(others).to.deep.equal([]);
    expect(delivery).to.include({ status: 'delivered', attempts: 1, event: 'callevents.call_end', last_status: 200 });
    expect(delivery?.id).to.equal(received?.headers['webhook-id']);
    await sender.directory.collections.webhooks.update(id, { enabled: false });
    expect(sender.events.listeners).to.equal(0);
  });

  it('are repeated under the same id; a dead server delays no other', async () => {
    answer = ({ path, attempt }) => (path === '/dead' || (path === '/moody' && attempt === 1) ? 500 : 200);
    const dead = await sender.webhook(at('/dead'));
    const moody = await sender.webhook(at('/moody'));
    await sender.webhook(at('/well'));
    for (let count = 0; count < 20; count += 1) sender.publish('call_init', { dialogid: String(count) });
    await arrived('/well', 20);
    await eventually(async () => {
      const waiting = (await sender.deliveries(moody.id)).filter((each) => each.status === 'waiting');
      expect(waiting.map((each) => each.last_status)).to.deep.equal([500]);
    }, WITHIN_MS);
    // The next attempt is seconds away; a change of the webhook does not wait for it.
    await sender.directory.collections.webhooks.update(moody.id, { name: 'moody' });
    await eventually(async () => {
      const statuses = (await sender.deliveries(moody.id)).map(({ status }) => status);
      expect(new Set(statuses)).to.deep.equal(new Set(['delivered']));
    }, WITHIN_MS);
    const ids = receiver.of('/moody').map(({ headers }) => headers['webhook-id']);
    expect([ids.length, new Set(ids).size]).to.deep.equal([21, 20]);
    // Three failures in a row, and up to three more that were at work; then it rests for seconds between two attempts.
    expect(receiver.of('/dead').length).to.be.within(3, 12);
    const { status, last_status, last_error } = await sender.state(dead.id);
    const expected = { status: 'failing', last_status: 500, last_error: 'the server answered 500' };
    expect({ status, last_status, last_error }).to.deep.equal(expected);
    expect(sender.results).to.include('retried');
  });

  it('end with 410, and after a day of failures; a change to enabled begins anew', async () => {
    answer = ({ path }) => (path === '/gone' ? 410 : 500);
    const gone = await sender.webhook(at('/gone'));
    sender.publish('call_init');
    await eventually(async () => {
      const { enabled, status, last_status: last } = await sender.state(gone.id);
      expect({ enabled, status, last }).to.deep.equal({ enabled: false, status: 'disabled', last: 410 });
    }, WITHIN_MS);
    const dying = await sender.webhook(at('/dying'));
    const before = Date.now() - DAY_MS;
    await sql`update webhooks set state = ${JSON.stringify({ status: 'failing', since: before })}::jsonb
      where id = ${dying.id}`.execute(storage.db);
    await sql`insert into webhook_deliveries (id, webhook_id, event, body, status, created, expires, due, attempts)
      values ('msg_old', ${dying.id}, 'callevents.call_init', '{}', 'waiting', ${before}, ${before + DAY_MS}, 0, 30)`.execute(
      storage.db,
    );
    await sender.directory.collections.webhooks.update(dying.id, { name: 'changed' });
    await eventually(async () => {
      const { enabled, status } = await sender.state(dying.id);
      expect({ enabled, status }).to.deep.equal({ enabled: false, status: 'disabled' });
    }, WITHIN_MS);
    const [old] = await sender.deliveries(dying.id);
    expect(old).to.include({ status: 'failed', attempts: 31, due: null, last_error: 'the server answered 500' });
    await sender.directory.collections.webhooks.update(dying.id, { enabled: true });
    expect((await sender.state(dying.id)).status).to.equal('new');
  });

  it('of a server that is back, and those of an earlier run, are sent without waiting for their next time', async () => {
    let isBack = false;
    answer = () => (isBack ? 200 : 503);
    const { id } = await sender.webhook(at('/back'));
    for (let count = 0; count < 5; count += 1) sender.publish('call_init', { dialogid: String(count) });
    await eventually(async () => expect((await sender.state(id)).status).to.equal('failing'), WITHIN_MS);
    await sender.webhooks.close();
    // One is due, the others much later.
    await sql`update webhooks set state = state || ${JSON.stringify({ since: 0 })}::jsonb`.execute(storage.db);
    await sql`update webhook_deliveries set due = ${Date.now() + DAY_MS / 2}`.execute(storage.db);
    await sql`update webhook_deliveries set due = 0 where id = (select min(id) from webhook_deliveries)`.execute(
      storage.db,
    );
    isBack = true;
    await sender.open();
    await eventually(async () => {
      const statuses = (await sender.deliveries(id)).map(({ status }) => status);
      expect(statuses).to.deep.equal(Array.from({ length: 5 }, () => 'delivered'));
    }, WITHIN_MS);
  });

  it('can be sent again, and wait in a bounded queue', async () => {
    const { id } = await sender.webhook(at('/again'));
    sender.publish('call_init');
    await arrived('/again', 1);
    const [first] = await eventually(async () => {
      const found = await sender.deliveries(id);
      expect(found[0]?.status).to.equal('delivered');
      return found;
    }, WITHIN_MS);
    if (first === undefined) throw new Error('no delivery');
    expect(await sender.webhooks.redeliver(first)).to.include({ id: first.id, status: 'waiting' });
    const [one, two] = await arrived('/again', 2);
    expect(two?.headers['webhook-id']).to.equal(one?.headers['webhook-id']);
    expect(two?.body).to.equal(one?.body);
    await sender.webhooks.close();
    await sql`insert into webhook_deliveries (id, webhook_id, event, body, status, created, expires, due)
      select 'msg_' || n, ${id}, 'x.y', '{}', 'waiting', 0, 0, 0 from generate_series(1, 3) n`.execute(storage.db);
    const queue = new DeliveryQueue(storage, Date.now, 3);
    expect([...(await queue.add([newDelivery(id)]))]).to.deep.equal([]);
    // Given up after a day, and removed after a week.
    expect(await queue.sweep([id])).to.equal(3);
    expect((await sender.deliveries(id)).map((each) => each.id)).to.deep.equal([first.id]);
    expect([...(await queue.add([newDelivery(id), newDelivery('removed')]))]).to.have.length(1);
    await sender.open();
  });
});

let made = 0;
function newDelivery(webhookId: string): NewDelivery {
  made += 1;
  return { id: `msg_new${made}`, webhookId, event: 'callevents.call_init', body: '{}', created: Date.now() };
}

describe('deliveries of webhooks without a database', () => {
  it('wait in memory within limits, and are stored when it is back', async () => {
    const stored: NewDelivery[] = [];
    const dropped: string[] = [];
    let isAway = true;
    const done = Promise.withResolvers<void>();
    const outbox = new Outbox(
      {
        add: async (set) => {
          if (isAway) throw new StorageUnavailableError('gone');
          stored.push(...set);
          return new Set(set.map(({ id }) => id));
        },
      },
      {
        queued: () => stored.length === 10_000 && done.resolve(),
        dropped: ({ id }) => dropped.push(id),
        failed: () => undefined,
      },
      50,
    );
    const all = Array.from({ length: 10_003 }, () => newDelivery('w'));
    for (const each of all.slice(0, 10_000)) outbox.add(each);
    await Promise.resolve();
    isAway = false;
    for (const each of all.slice(10_000)) outbox.add(each);
    await done.promise;
    expect(stored).to.deep.equal(all.slice(0, 10_000));
    expect(dropped).to.deep.equal(all.slice(10_000).map(({ id }) => id));
    await outbox.close();
  }).timeout(20_000);
});

describePostgres('webhooks on several nodes', (newPlace) => {
  it('get each event once', async () => {
    const place = await newPlace();
    const storages = [await place.open(), await place.open()] as const;
    const receiver = await Receiver.start();
    await withDomains(storages[0]);
    const [a, b] = [await Sender.start(storages[0]), await Sender.start(storages[1])] as const;
    try {
      await a.webhook(`${receiver.base}/`);
      // The notice of the other node.
      await eventually(async () => expect(b.events.listeners).to.equal(1), WITHIN_MS);
      for (let count = 0; count < 50; count += 1) {
        a.publish('call_init', { dialogid: `a${count}` });
        b.publish('call_init', { dialogid: `b${count}` });
        // A change of the data model is an event of every node.
        b.events.publish({ domain: DOMAIN, class: 'callevents', type: 'call_end', data: {}, elsewhere: true });
      }
      await eventually(async () => expect(a.results.length + b.results.length).to.equal(100), WITHIN_MS);
      await a.webhooks.close();
      await b.webhooks.close();
      expect(
        new Set(receiver.received.map(({ body }) => (JSON.parse(body) as { data: { dialogid: string } }).data.dialogid))
          .size,
      ).to.equal(100);
      expect(receiver.received.length).to.equal(100);
    } finally {
      receiver.close();
      await clear(storages[0]);
      for (const storage of storages) await storage.close();
    }
  }).timeout(60_000);
});
