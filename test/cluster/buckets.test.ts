import { expect } from 'chai';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { ClusterAwayError } from '../../runtime/cluster/errors.ts';
import { Bucket, openBucket } from '../../runtime/cluster/link/buckets.ts';
import type { NatsLink } from '../../runtime/cluster/link/nats-link.ts';
import { watch } from '../../runtime/cluster/link/watch.ts';
import { eventually } from '../support/eventually.ts';
import { silentLog } from '../support/log.ts';
import { linkTo } from './support/nats-link.ts';
import { NatsServer, requireNats } from './support/nats-server.ts';

const BUCKET = { name: 'ringmaster_made' } as const;

describe('a bucket of NATS that a node follows', function () {
  this.timeout(30_000);
  let server: NatsServer;
  let connection: NatsConnection;
  let link: NatsLink;
  let bucket: Bucket;
  const entries = new Map<string, string | undefined>();
  let reads = 0;

  before(async function () {
    requireNats(this);
    server = await NatsServer.start();
    connection = await connect({ servers: `127.0.0.1:${server.port}` });
    link = linkTo(server);
    const entry = (key: string, value: Uint8Array | undefined) =>
      void entries.set(key, value === undefined ? undefined : Buffer.from(value).toString());
    bucket = new Bucket(link, BUCKET, { entry, complete: () => (reads += 1) }, silentLog);
    const kv = await openBucket(connection, BUCKET);
    await kv.put('first', '1');
    await kv.put('gone', '2');
    await kv.delete('gone');
    link.open();
  });
  after(async () => {
    bucket?.close();
    await link?.close();
    await connection?.close();
    await server?.remove();
  });

  const told = async (key: string, value: string | undefined, withinMs = 5000) =>
    await eventually(async () => expect(entries.get(key)).to.equal(value), withinMs);

  it('tells its entries, then every change', async () => {
    await eventually(async () => expect(reads).to.equal(1));
    expect([...entries]).to.have.deep.members([
      ['first', '1'],
      ['gone', undefined],
    ]);
    await bucket.kv?.put('second', '3');
    await told('second', '3');
    await bucket.kv?.delete('first');
    await told('first', undefined);
  });

  it('is read anew within seconds when NATS no longer tells its changes', async () => {
    const { consumers } = await jetstreamManager(connection);
    const stream = `KV_${BUCKET.name}`;
    const known = await consumers.list(stream).next();
    expect(known.length).to.equal(1);
    for (const { name } of known) await consumers.delete(stream, name);
    await (await openBucket(connection, BUCKET)).put('third', '4');
    await told('third', '4', 10_000);
    expect(reads).to.equal(2);
    expect((await consumers.list(stream).next()).length).to.equal(1);
  });
});

describe('a watch of a bucket', () => {
  it('leaves no timer when its connection closes meanwhile', async function () {
    requireNats(this);
    const server = await NatsServer.start();
    const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    const open = () => connect({ servers: `127.0.0.1:${server.port}` });
    await (await open()).close();
    const before = timers();
    const closing = await open();
    await openBucket(closing, BUCKET);
    const request = closing.request.bind(closing);
    closing.request = async (subject, ...rest) => {
      const answer = await request(subject, ...rest);
      // The last question before the changes come.
      if (subject.includes('CONSUMER.INFO')) void closing.drain();
      return answer;
    };
    const opened = watch(closing, BUCKET.name, 2000, { entry: () => undefined, complete: () => undefined });
    expect(await opened.catch((error: unknown) => error)).to.be.instanceOf(ClusterAwayError);
    await closing.closed();
    expect(timers()).to.equal(before);
    await server.remove();
  });
});
