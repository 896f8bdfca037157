import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import type { RestAnswer, RestClient } from '../phones/rest-client.ts';
import { eventually } from '../support/eventually.ts';
import { freeTcpPort } from '../support/ports.ts';
import { useStage } from '../support/stage.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Answer, Receiver } from '../webhooks/receiver.ts';
import { TwoDomains } from './two-domains.ts';

const REST = '/rest/v1';
const WEBHOOKS = `${REST}/domain/webhooks`;
const WITHIN_MS = 20_000;

interface Delivery {
  readonly id: string;
  readonly event: string;
  readonly status: string;
  readonly attempts: number;
  readonly created: number;
}

/** A node of its own: it may reach this machine, and is killed. */
describe('webhooks', function () {
  this.timeout(90_000);
  const folder = temporaryFolder();
  const stage = useStage({ env: { RINGMASTER_WEBHOOK_NETWORKS: '127.0.0.1' } });
  let rest: RestClient;
  let receiver: Receiver;
  let answer: Answer;
  let program: ChildProcess | undefined;
  before(async () => {
    receiver = await Receiver.start((received) => answer(received));
    rest = await stage.rest();
  });
  beforeEach(() => {
    answer = () => 204;
    receiver.received.length = 0;
  });
  afterEach('end the program', () => program?.kill('SIGKILL'));
  after(() => receiver.close());

  const post = (path: string, body?: object, client = rest): Promise<RestAnswer> => client.send('POST', path, { body });

  async function create(path: string, fields: object = {}): Promise<{ id: string; secret: string }> {
    const made = await post(WEBHOOKS, { url: `${receiver.base}${path}`, events: ['callevents'], ...fields });
    expect(made.status, made.text).to.equal(200);
    return made.json();
  }

  const deliveries = async (id: string, query: Readonly<Record<string, string | number>> = {}): Promise<Delivery[]> =>
    (await rest.send('GET', `${WEBHOOKS}/${id}/deliveries`, { query })).json();

  it('send the events of a call to the receiver of the documentation, which refuses a forged one', async () => {
    const page = readFileSync(new URL('../../docs/rest/webhooks.md', import.meta.url), 'utf8');
    const source = /```js\n(.*?)```/s.exec(page)?.[1] ?? '';
    const port = await freeTcpPort();
    await writeFile(join(folder, 'receiver.mjs'), source.replace('9000', String(port)));
    const { id, secret } = await create('/', { url: `http://127.0.0.1:${port}/calls`, events: ['callevents'] });
    program = spawn(process.execPath, [join(folder, 'receiver.mjs')], {
      env: { ...process.env, WEBHOOK_SECRET: secret },
    });
    let output = '';
    for (const stream of [program.stdout, program.stderr])
      stream?.on('data', (chunk: Buffer) => (output += String(chunk)));
    const forged = await eventually(
      () => fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' }),
      WITHIN_MS,
    );
    expect(forged.status).to.equal(401);
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing } = await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    await outgoing.hangup();
    // Four are sent at once, in any order.
    await eventually(async () => {
      for (const type of ['call_init', 'call_ringing', 'call_answered', 'call_end'])
        expect(output).to.include(`callevents.${type} {`);
    }, WITHIN_MS);
    expect(output).to.include(dialogid);
    const [last] = await eventually(async () => {
      const found = await deliveries(id, { filter: JSON.stringify({ status: 'delivered' }) });
      expect(found).to.have.length(4);
      return found;
    }, WITHIN_MS);
    const again = await post(`${WEBHOOKS}/${id}/deliveries/${last?.id ?? ''}/redeliver`);
    expect(again.json()).to.include({ status: 'waiting', attempts: 0 });
    await eventually(
      async () => expect((await deliveries(id)).map(({ status }) => status)).to.not.include('waiting'),
      WITHIN_MS,
    );
    // The receiver knew it already.
    expect(output.match(/callevents\.call_end/g)).to.have.length(1);
    expect((await rest.send('DELETE', `${WEBHOOKS}/${id}`)).status).to.equal(204);
    expect((await rest.get(`${WEBHOOKS}/${id}/deliveries`)).status).to.equal(404);
  });

  it('show their secret once, sign with the former one for a day, and keep secrets out of logs', async () => {
    const { id, secret: first } = await create('/signed', { name: 'CRM' });
    const read = await rest.get(`${WEBHOOKS}/${id}`);
    expect(read.text).to.not.include('secret');
    expect((await rest.get(WEBHOOKS)).text).to.not.include('whsec_');
    const changed = await rest.send('PATCH', `${WEBHOOKS}/${id}`, { body: { secret: null } });
    const second = changed.json<{ secret: string }>().secret;
    expect(second)
      .to.match(/^whsec_/)
      .and.not.equal(first);
    // The tag of the answer is that of the entity without its secret.
    const renamed = await rest.send('PATCH', `${WEBHOOKS}/${id}`, {
      body: { name: 'CRM 2' },
      headers: { 'if-match': changed.header('etag') ?? '' },
    });
    expect(renamed.status, renamed.text).to.equal(200);
    expect(renamed.text).to.not.include('secret');
    const dry = { body: { secret: null }, query: { dry_run: true } };
    const tried = await rest.send('PATCH', `${WEBHOOKS}/${id}`, dry);
    expect([tried.status, tried.text.includes('secret')]).to.deep.equal([200, false]);
    const tested = await post(`${WEBHOOKS}/${id}/test`);
    expect(tested.json()).to.deep.include({ event: 'webhookevents.test', status: 'delivered', last_status: 204 });
    const [received] = receiver.of('/signed');
    const headers = received?.headers as Record<string, string>;
    for (const secret of [first, second]) {
      const body = new Webhook(secret).verify(received?.body ?? '', headers);
      expect(body).to.have.property('type', 'webhookevents.test');
    }
    const given = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
    expect((await create('/given', { secret: given })).secret).to.equal(given);
    const listed = await rest.send('PATCH', WEBHOOKS, { body: [{ id, secret: null }] });
    expect(listed.json<{ secret: string }[]>()[0]?.secret, listed.text).to.match(/^whsec_/);
    const interval = JSON.stringify([Date.now() - 3_600_000, Date.now() + 3_600_000]);
    const audit = await rest.send('GET', `${REST}/model/audit`, { query: { interval } });
    expect(audit.text).to.include('/domain/webhooks').and.not.include('whsec_');
    expect(stage.node.output).to.not.include('whsec_');
  });

  it('are refused with the field when they are wrong', async () => {
    const good = { url: 'https://crm.example.com/', events: ['callevents'] };
    const filter = ['nothing', 1];
    for (const [field, body] of [
      ['url', { ...good, url: 'ftp://crm.example.com/' }],
      ['url', { ...good, url: 'https://10.0.0.1/' }],
      ['url', { ...good, url: 'http://8.8.8.8/' }],
      ['url', { events: ['callevents'] }],
      ['events', { url: good.url }],
      ['events.0', { ...good, events: ['callevents.call_ended'] }],
      ['exargs.filter[0]', { ...good, exargs: { filter } }],
      ['secret', { ...good, secret: 'whsec_dG9vIHNob3J0' }],
      ['evnts', { ...good, evnts: [] }],
    ] as const) {
      const refused = await post(WEBHOOKS, body);
      expect(refused.status, refused.text).to.equal(400);
      expect(refused.json<{ error_details: object }>().error_details, refused.text).to.include({ field });
    }
    const { id } = await create('/off', { enabled: false });
    const tested = (await post(`${WEBHOOKS}/${id}/test`)).json<Delivery>();
    const again = await post(`${WEBHOOKS}/${id}/deliveries/${tested.id}/redeliver`);
    expect([again.status, again.json<{ error_details: object }>().error_details]).to.deep.equal([
      422,
      { field: 'enabled', reason: 'is false: this webhook sends nothing' },
    ]);
    for (const unknown of ['msg_none', '%00', encodeURIComponent("'")])
      expect((await rest.get(`${WEBHOOKS}/${id}/deliveries/${unknown}`)).status, unknown).to.equal(404);
  });

  it('of another domain do not exist, and users without a role have none', async () => {
    const domains = await TwoDomains.make(stage.node);
    const { boss, alice, chief } = domains.clients;
    if (boss === undefined || alice === undefined || chief === undefined) throw new Error('no clients');
    const { id } = await create('/mine');
    const tested = (await post(`${WEBHOOKS}/${id}/test`)).json<Delivery>();
    for (const client of [boss, chief]) {
      for (const path of ['', '/deliveries', `/deliveries/${tested.id}`])
        expect((await client.get(`${WEBHOOKS}/${id}${path}`)).status).to.equal(404);
      for (const path of ['/test', `/deliveries/${tested.id}/redeliver`])
        expect((await post(`${WEBHOOKS}/${id}${path}`, undefined, client)).status).to.equal(404);
      expect((await client.get(WEBHOOKS)).json()).to.deep.equal([]);
    }
    const theirs = { url: `${receiver.base}/theirs`, events: ['callevents'] };
    const made = await post(WEBHOOKS, theirs, boss);
    const other = made.json<{ id: string }>().id;
    expect(made.status, made.text).to.equal(200);
    // A delivery is found below its own webhook only.
    expect((await boss.get(`${WEBHOOKS}/${other}/deliveries/${tested.id}`)).status).to.equal(404);
    for (const path of ['', `/${id}`, `/${id}/deliveries`])
      expect((await alice.get(WEBHOOKS + path)).status).to.equal(403);
    const [caller, callee] = await stage.phones('alice', 'bob');
    const { outgoing } = await stage.connect(caller, callee, '102');
    await outgoing.hangup();
    await eventually(async () => expect(receiver.of('/mine').length).to.equal(5), WITHIN_MS);
    expect(receiver.of('/theirs')).to.deep.equal([]);
    for (const client of Object.values(domains.clients)) client.close();
  });

  it('are sent after the node was killed, and listed like every collection', async () => {
    answer = () => 503;
    const { id } = await create('/killed', { events: ['modelevents'], classpath: 'orders' });
    const properties = [{ name: 'n', data_type: 'integer' }];
    const body = { classname: 'orders', storage_mode: 'category', properties };
    expect((await post(`${REST}/domain/classes`, body)).status).to.equal(200);
    for (const n of [1, 2, 3]) await post(`${REST}/model/orders`, { id: `o${n}`, n });
    await eventually(async () => expect(await deliveries(id)).to.have.length(3), WITHIN_MS);
    await stage.node.kill();
    answer = () => 200;
    await stage.node.restart();
    await eventually(async () => {
      const waiting = await deliveries(id, { filter: JSON.stringify({ status: 'delivered' }) });
      expect(waiting).to.have.length(3);
    }, 40_000);
    const entities = receiver.of('/killed').map((each) => (JSON.parse(each.body) as { data: { id: string } }).data.id);
    expect(new Set(entities)).to.deep.equal(new Set(['o1', 'o2', 'o3']));
    expect(new Set(receiver.of('/killed').map(({ headers }) => headers['webhook-id'])).size).to.equal(3);
    const newest = await deliveries(id);
    expect(newest.map(({ created }) => created)).to.deep.equal(
      newest.map(({ created }) => created).toSorted((a, b) => b - a),
    );
    const oldest = await deliveries(id, { order: '[{"created":"asc"}]', limit: 1, mask: 'id,event' });
    expect(oldest).to.deep.equal([{ id: newest[2]?.id, event: 'modelevents.data_changed' }]);
    expect(await deliveries(id, { countonly: 'true' })).to.deep.equal({ count: 3 });
    const late = { filter: '{"last_status":200,"attempts":"1~"}', order: '[{"due":"desc"},"finished"]', limit: 2 };
    expect(await deliveries(id, late)).to.have.length(2);
    const refused = await rest.send('GET', `${WEBHOOKS}/${id}/deliveries`, { query: { filter: '["x"]' } });
    expect(refused.status).to.equal(400);
    const one = await rest.get(`${WEBHOOKS}/${id}/deliveries/${newest[0]?.id ?? ''}`);
    expect(one.json<{ payload: object }>().payload).to.include({
      type: 'modelevents.data_changed',
      domain: 'demo.local',
    });
    const metrics = (await rest.get('/metrics')).text;
    expect(metrics).to.match(/ringmaster_webhook_deliveries_total\{result="delivered"\} [3-9]/);
  });
});
