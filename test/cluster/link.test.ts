import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { Cluster } from '../../runtime/cluster/cluster.ts';
import { NodeFailedError, NodeGoneError, NodeSilentError } from '../../runtime/cluster/errors.ts';
import { NatsLink } from '../../runtime/cluster/link/nats-link.ts';
import { Requests } from '../../runtime/cluster/link/requests.ts';
import { readConfig } from '../../runtime/config/index.ts';
import { makeCertificate } from '../support/certificate.ts';
import { eventually } from '../support/eventually.ts';
import { keepingLog, silentLog } from '../support/log.ts';
import { freeTcpPort } from '../support/ports.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { failure } from '../storage/support/storages.ts';
import { linkTo } from './support/nats-link.ts';
import { NatsServer, requireNats } from './support/nats-server.ts';

const clusterOf = (env: Readonly<Record<string, string>>) =>
  readConfig({ DATABASE_URL: 'postgres://localhost/x', RINGMASTER_NODE: 'n1', ...env }).cluster ?? expect.fail();

describe('the connection of a node to NATS', function () {
  this.timeout(30_000);
  const folder = temporaryFolder();
  let servers: NatsServer[] = [];
  let closing: (() => Promise<void>)[] = [];

  before(function () {
    requireNats(this);
  });
  afterEach(async () => {
    for (const close of closing) await close();
    for (const each of servers) await each.remove();
    [servers, closing] = [[], []];
  });

  async function started(...options: string[]): Promise<NatsServer> {
    const server = await NatsServer.start(options);
    servers.push(server);
    return server;
  }

  /** Joins a cluster, and fails when that cannot be. */
  async function join(env: Readonly<Record<string, string>>): Promise<void> {
    const cluster = await Cluster.open(clusterOf(env), silentLog);
    closing.push(() => cluster.leave().then(() => cluster.close()));
    const load = { calls: 0, runs: 0, subscriptions: 0 };
    await cluster.join(() => ({
      site: 'main',
      roles: [],
      version: '1',
      http: '',
      started: 0,
      state: 'accepting',
      load,
    }));
    await eventually(async () => expect(cluster.state).to.deep.equal({ state: 'ok', node: 'n1', nodes: 1 }));
  }

  /** Waits until NATS has refused these settings. @returns the whole log */
  async function refused(env: Readonly<Record<string, string>>): Promise<string> {
    const log = keepingLog();
    const link = new NatsLink(clusterOf(env), log);
    closing.push(() => link.close());
    link.open();
    await eventually(async () => expect(log.lines).to.include('warn: NATS does not take this node yet'));
    expect(link.connection).to.equal(undefined);
    return JSON.stringify(log.entries);
  }

  it('takes user and password, and tells no password in its log', async () => {
    const { port } = await started('--user', 'ring', '--pass', 'm@ster');
    await join({ RINGMASTER_CLUSTER: `nats://ring:m%40ster@127.0.0.1:${port}` });
    expect(await refused({ RINGMASTER_CLUSTER: `nats://ring:wrong-one@127.0.0.1:${port}` })).not.to.include(
      'wrong-one',
    );
  });

  it('takes a token', async () => {
    const { port } = await started('--auth', 'secret-token');
    await join({ RINGMASTER_CLUSTER: `nats://secret-token@127.0.0.1:${port}` });
  });

  it('uses TLS with root certificates of the operator', async function () {
    const made = makeCertificate() ?? this.skip();
    const [cert, key] = [`${folder}/cert.pem`, `${folder}/key.pem`];
    writeFileSync(cert, made.cert);
    writeFileSync(key, made.key);
    const { port } = await started('--tls', '--tlscert', cert, '--tlskey', key);
    const url = `tls://127.0.0.1:${port}`;
    await join({ RINGMASTER_CLUSTER: url, RINGMASTER_CLUSTER_CA: cert });
    await refused({ RINGMASTER_CLUSTER: url });
  });

  for (const { goes, gone } of [
    { goes: 'goes silent', gone: async (server: NatsServer) => server.pause() },
    { goes: 'ends', gone: async (server: NatsServer) => await server.stop('SIGKILL') },
  ])
    it(`is closed when NATS ${goes} meanwhile`, async () => {
      const server = await started();
      const link = linkTo(server);
      closing.push(() => link.close());
      link.open();
      await new Promise<void>((up) => link.onUp(up));
      const { connection } = link;
      connection?.subscribe('anything');
      const without = gone(server);
      await link.close();
      await without;
      expect(connection?.isClosed()).to.equal(true);
    });

  it('asks again for what a server of NATS took that went silent', async () => {
    const route = `nats://127.0.0.1:${await freeTcpPort()}`;
    const names = ['--cluster_name', 'silent', '--routes', route];
    const lasting = await started('-n', 'lasting', '--cluster', route, ...names);
    const silent = await started('-n', 'silent', '--cluster', `nats://127.0.0.1:${await freeTcpPort()}`, ...names);
    const joined = (id: string, { url }: NatsServer) => {
      const link = new NatsLink(clusterOf({ RINGMASTER_CLUSTER: url }), silentLog);
      closing.push(() => link.close());
      const requests = new Requests(link, id, silentLog);
      link.open();
      return requests;
    };
    const [asking, answering] = [joined('a', lasting), joined('b', silent)];
    let [answers, slow] = [0, 0];
    answering.serve('count', () => (answers += 1));
    answering.serve('slow', async () => {
      slow += 1;
      await delay(1000);
      return slow;
    });
    const ask = (method: string) => asking.ask({ id: 'b', node: 'b' }, method, {}, { timeoutMs: 60_000, probes: true });
    await eventually(async () => expect(await ask('count')).to.be.greaterThan(0));
    expect(await ask('slow'), 'asked once, as it worked on it').to.equal(1);
    const before = answers;
    silent.pause();
    // What the server passed on last may have been counted, too.
    expect(await ask('count')).to.be.greaterThan(before);
  });

  it('brings requests to one process, with answers of any size, and errors at once where nobody listens', async () => {
    const nats = await started();
    const options = clusterOf({ RINGMASTER_CLUSTER: nats.url });
    const made = (id: string) => {
      const link = new NatsLink(options, silentLog);
      closing.push(() => link.close());
      const requests = new Requests(link, id, silentLog);
      link.open();
      return { link, requests };
    };
    const [asking, answering] = [made('a'), made('b')];
    await Promise.all([asking, answering].map(({ link }) => new Promise<void>((up) => link.onUp(up))));
    const long = '\u00e9'.repeat(3_000_000);
    answering.requests.serve('echo', (asked) => ({ asked, long }));
    answering.requests.serve('fail', () => {
      throw new Error('a secret of the node');
    });
    answering.requests.serve('leave', () => answering.link.close().then(() => new Promise(() => undefined)));
    answering.requests.serve('hang', () => new Promise(() => undefined));
    const ask = (id: string, method: string, timeoutMs = 10_000, gone?: AbortSignal) =>
      asking.requests.ask({ id, node: id }, method, { n: 1 }, { timeoutMs, gone });

    await eventually(async () => expect(await ask('b', 'echo')).to.deep.equal({ asked: { n: 1 }, long }));
    expect(await failure(ask('nobody', 'echo', 60_000))).to.be.instanceOf(NodeGoneError);
    expect(await failure(ask('b', 'hang', 50))).to.be.instanceOf(NodeSilentError);
    const failed = await failure(ask('b', 'fail'));
    expect(failed).to.be.instanceOf(NodeFailedError);
    expect(failed.message).not.to.include('secret');
    expect(await failure(ask('b', 'unheard'))).to.be.instanceOf(NodeFailedError);
    const death = new AbortController();
    const waiting = failure(ask('b', 'hang', 60_000, death.signal));
    death.abort();
    expect(await waiting).to.be.instanceOf(NodeGoneError);
    // It dies with the request: NATS says so when it is probed.
    const left = failure(asking.requests.ask({ id: 'b', node: 'b' }, 'leave', {}, { timeoutMs: 60_000, probes: true }));
    expect(await left).to.be.instanceOf(NodeGoneError);
    const { link: third, requests: revived } = made('b');
    revived.serve('hang', () => new Promise(() => undefined));
    await new Promise<void>((up) => third.onUp(up));
    await eventually(async () => expect(await failure(ask('b', 'hang', 50))).to.be.instanceOf(NodeSilentError));
    const cut = failure(ask('b', 'hang', 60_000));
    await nats.stop();
    expect((await cut).name).to.equal('ClusterAwayError');
  });
});

describe('settings of a cluster', () => {
  it('need PostgreSQL, and URLs of NATS; no message tells a password', () => {
    expect(readConfig({}).cluster).to.equal(undefined);
    expect(() => readConfig({ RINGMASTER_CLUSTER: 'nats://h' })).to.throw(/DATABASE_URL/);
    expect(() => clusterOf({ RINGMASTER_CLUSTER: 'http://user:geheim@h' }))
      .to.throw(/RINGMASTER_CLUSTER/)
      .with.property('message')
      .that.does.not.include('geheim');
    expect(() => clusterOf({ RINGMASTER_CLUSTER: 'nats://h', RINGMASTER_CLUSTER_CERT: 'c' })).to.throw(/_KEY/);
    expect(() => clusterOf({ RINGMASTER_CLUSTER: 'nats://h', RINGMASTER_CLUSTER_KEY: 'k' })).to.throw(/_CERT/);
  });

  it('name servers with the usual port, the node by host and HTTP port', () => {
    const { servers, name } = clusterOf({ RINGMASTER_CLUSTER: 'nats://a, tls://[::1]:4333', RINGMASTER_NODE: '' });
    expect(servers.map(({ address, secure }) => [address, secure])).to.deep.equal([
      ['a:4222', false],
      ['[::1]:4333', true],
    ]);
    expect(name).to.match(/.:8080$/);
  });
});
