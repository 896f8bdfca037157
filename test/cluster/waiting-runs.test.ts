import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import type { RunView } from '../../runtime/runs/index.ts';
import { openStorage, type Storage } from '../../runtime/storage/index.ts';
import { eventually } from '../support/eventually.ts';
import { useCluster } from './support/test-cluster.ts';

const RUNS = '/rest/v1/api/runs';
const HOOKS = '/rest/v1/api/hooks';
const SCRIPTS = '/rest/v1/domain/svcscripts';
const SECRET = 'Qx4-s3cret';

/** Scenarios of the domain. Modules tell the server before and after their wait. */
const SCENARIOS = {
  held: `
starts: { hook: true }
start: pause
blocks:
  pause: { wait: 15s, next: got }
  got:
    receive: { message: order, timeout: 20s }
    exits: { next: done, timeout: end }
  done: { return: "\${got.data}" }
`,
  prices: 'export const priceOf = (order) => ({ order, price: 5 });',
  ordering: `
import { priceOf } from './prices.js';
export const starts = { hook: true };
export default async function (_, { base }) {
  const dice = Math.random();
  const { json } = await http.request(base + '/ordering/before?dice=' + dice);
  const heard = [];
  events.on('message', ({ name }) => heard.push(name));
  const late = sleep('10m').then(() => null);
  const order = scenario.receive({ message: 'order', timeout: '5m' }).then(({ data }) => data);
  const data = await Promise.race([late, order]);
  await http.request(base + '/ordering/after?dice=' + dice);
  return { ...priceOf(data), said: json.said, heard };
}`,
  timed: `
export const starts = { hook: true };
export const limits = { wall: '2m' };
export default async function (_, { base }) {
  await http.request(base + '/timed/before');
  await sleep('15s');
  await http.request(base + '/timed/after');
  return 'in time';
}`,
  pinned: `
export const starts = { hook: true };
export default async function () {
  await sleep('10m');
}`,
  secretive: `
export const starts = { hook: true };
export default async function (_, { base }) {
  await http.request({ url: base + '/secretive/before', headers: { 'x-key': secrets.crm } });
  await sleep('10m');
}`,
  large: `
export const starts = { hook: true };
export default async function (_, { base }) {
  const { json } = await http.request(base + '/large/before?length=40000');
  await sleep('10m');
  return json;
}`,
  teller: `
export const starts = { hook: true };
export default async function (_, { to }) {
  await scenario.send({ to, message: 'hello' });
  await scenario.send({ to, message: 'order', data: 7 });
}`,
};

/** With nats-server and PostgreSQL: requireNats. */
describe('runs that wait in a cluster', function () {
  this.timeout(90_000);
  const cluster = useCluster(2);

  const asked: { readonly url: string; readonly key: unknown }[] = [];
  /** Of the scripts, by their code. */
  const ids = new Map<string, string>();
  let server: Server | undefined;
  let base: string;
  let database: Storage | undefined;

  before('a server that counts requests', async () => {
    const counting = createServer(({ url = '', headers }, response) => {
      asked.push({ url, key: headers['x-key'] });
      const length = Number(new URL(url, base).searchParams.get('length') ?? 3);
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ said: 'x'.repeat(length) }));
    });
    server = counting;
    await new Promise<void>((done) => counting.listen(0, '127.0.0.1', done));
    base = `http://127.0.0.1:${(counting.address() as AddressInfo).port}`;
    for (const { node } of cluster().nodes)
      await writeFile(join(node.dataDir, 'secrets.json'), JSON.stringify({ 'demo.local': { crm: SECRET } }));
    for (const [code, source] of Object.entries(SCENARIOS)) ids.set(code, await write('POST', SCRIPTS, code, source));
    database = await openStorage({ dataDir: 'unused', databaseUrl: cluster().databaseUrl, poolSize: 1 });
  });
  after(async () => {
    server?.close();
    await database?.close();
  });

  async function write(method: 'POST' | 'PATCH', path: string, code: string, source: string): Promise<string> {
    const format = source.includes('export') ? 'js' : 'yaml';
    const body = { code, name: code, scriptdata: { format, source } };
    const written = await cluster().node(0).rest.send(method, path, { body });
    expect(written.status, written.text).to.equal(200);
    return written.json<{ id: string }>().id;
  }

  /** Starts a module at a node, and does not wait for its end. @returns the run's id */
  async function begin(at: number, code: string, args: object = { base }): Promise<string> {
    const started = await eventually(async () => {
      const answer = await cluster().node(at).rest.send('POST', `${HOOKS}/${code}?wait=0`, { body: args });
      expect(answer.status, answer.text).to.be.oneOf([200, 202]);
      return answer;
    });
    return started.header('run-id') ?? '';
  }

  /** The end of a run, as a node tells it. */
  const ended = (run: string, at = 1) =>
    eventually(async () => {
      const answer = await cluster().node(at).rest.get(`${RUNS}/${run}`);
      const { outcome, trace } = answer.json<RunView>();
      if (outcome === undefined) throw new Error('the run goes on');
      return { ...outcome, trace };
    }, 30_000);
  const rows = () => {
    if (database === undefined) throw new Error('the database is not open yet');
    return database.db.selectFrom('waiting_runs').selectAll().execute();
  };
  const paths = (code: string) => asked.map(({ url }) => url).filter((url) => url.startsWith(`/${code}/`));

  it('go on when their node dies, and repeat no request', async () => {
    const secretive = await begin(0, 'secretive');
    const large = await begin(0, 'large');
    const ordering = await begin(0, 'ordering');
    const timed = await begin(0, 'timed');
    const pinned = await begin(0, 'pinned');
    const held = await begin(0, 'held', {});
    const kept = await eventually(async () => {
      const written = await rows();
      expect(written.map(({ run }) => run)).to.have.members([ordering, timed, pinned, held]);
      return written;
    });
    const line = await eventually(async () => {
      const found = cluster()
        .node(0)
        .node.output.split('\n')
        .find((each) => each.includes(large) && each.includes('would end'));
      expect(found).not.to.equal(undefined);
      return found;
    });
    expect(line).to.include('its script was given more than 32768 characters of JSON');
    for (const { state } of kept) expect(state).not.to.include(SECRET);
    expect(asked.find(({ url }) => url === '/secretive/before')?.key).to.equal(SECRET);
    await write('PATCH', `${SCRIPTS}/${ids.get('pinned')}`, 'pinned', `${SCENARIOS.pinned}\n// changed`);

    // A message to a run that does not wait for it is kept with it.
    await begin(0, 'teller', { to: held });
    await eventually(async () =>
      expect((await rows()).find(({ run }) => run === held)?.state).to.include('"name":"order"'),
    );

    await cluster().node(0).node.kill();
    const { value, milliseconds, trace } = await ended(timed);
    expect(value).to.equal('in time');
    // What was left of its time: it has waited 15 s in all.
    expect(milliseconds).to.be.within(15_000, 22_000);
    expect(trace.map(({ block, exit }) => [block, exit])).to.deep.equal([
      ['http.request', 'next'],
      ['sleep', 'next'],
      ['http.request', 'next'],
    ]);
    expect(paths('timed')).to.deep.equal(['/timed/before', '/timed/after']);

    await begin(1, 'teller', { to: ordering });
    expect((await ended(ordering)).value).to.deep.equal({ order: 7, price: 5, said: 'xxx', heard: ['hello', 'order'] });
    const [before, after, ...more] = paths('ordering');
    expect(more).to.deep.equal([]);
    expect(after).to.equal(before?.replace('before', 'after'));

    expect((await ended(held)).value).to.equal(7);
    expect((await ended(pinned)).error).to.include({ code: 'run_lost' });
    for (const run of [secretive, large])
      expect((await cluster().node(1).rest.get(`${RUNS}/${run}`)).status).to.equal(404);
    for (const code of ['secretive', 'large']) expect(paths(code).length).to.equal(1);
    expect(await rows()).to.deep.equal([]);
  });

  it('go on once when their node is cut off from NATS, or stopped', async () => {
    await cluster().node(0).node.restart();
    await cluster().joined();
    asked.length = 0;
    const [timed, ordering] = [await begin(1, 'timed'), await begin(1, 'ordering')];
    await eventually(async () => expect((await rows()).map(({ run }) => run)).to.have.members([timed, ordering]));
    const [process] = new Set((await rows()).map((row) => row.process));
    cluster().cable.cut();
    await eventually(async () => expect((await rows()).map((row) => row.process)).not.to.include(process));
    // Both nodes have the run, and its time is up at both.
    expect((await ended(timed, 0)).value).to.equal('in time');
    await cluster().node(1).node.stop();
    expect(paths('timed')).to.deep.equal(['/timed/before', '/timed/after']);
    await begin(0, 'teller', { to: ordering });
    await ended(ordering, 0);
    expect(paths('ordering').length).to.equal(2);

    cluster().cable.mend();
    await cluster().node(1).node.restart();
    await cluster().joined();
    const stopped = await begin(1, 'timed');
    await eventually(async () => expect((await rows()).map(({ run }) => run)).to.deep.equal([stopped]));
    await cluster().node(1).node.stop();
    expect((await ended(stopped, 0)).value).to.equal('in time');
    expect(paths('timed').length).to.equal(4);
  });
});
