import { expect } from 'chai';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { openBucket } from '../../runtime/cluster/link/buckets.ts';
import type { NatsLink } from '../../runtime/cluster/link/nats-link.ts';
import { LiveIndex } from '../../runtime/cluster/loss/live-index.ts';
import { eventually } from '../support/eventually.ts';
import { silentLog } from '../support/log.ts';
import { linkTo } from './support/nats-link.ts';
import { NatsServer, requireNats } from './support/nats-server.ts';

const BUCKET = { name: 'ringmaster_calls' } as const;

describe('what a node keeps of its calls at NATS', function () {
  this.timeout(20_000);
  let server: NatsServer;
  let connection: NatsConnection;
  let link: NatsLink;
  let index: LiveIndex;

  before(async function () {
    requireNats(this);
    server = await NatsServer.start();
    connection = await connect({ servers: `127.0.0.1:${server.port}` });
    link = linkTo(server);
    index = new LiveIndex(link, 'self', silentLog);
    link.open();
  });
  after(async () => {
    await index?.close();
    await link?.close();
    await connection?.close();
    await server?.remove();
  });

  const kept = async () => (await index.read('self')).call.map(({ of }) => of);

  it('is told again when NATS has not stored it, though the connection has lived', async () => {
    index.set('call', 'one', () => 1);
    await eventually(async () => expect(await kept()).to.deep.equal([1]));
    const manager = await jetstreamManager(connection);
    await manager.streams.delete(`KV_${BUCKET.name}`);
    const lost = connection.subscribe(`$KV.${BUCKET.name}.>`, { max: 3 });
    await connection.flush();
    index.remove('call', 'one');
    index.set('call', 'two', () => 2);
    index.set('call', 'three', () => 3);
    const slots: string[] = [];
    for await (const { subject } of lost) slots.push(subject.split('.').at(-1) ?? '');
    // Another node makes the bucket, and it has what this one told before.
    const again = await openBucket(connection, BUCKET);
    await again.put(`self.${slots[0]}`, JSON.stringify({ kind: 'call', of: 1 }));
    await eventually(async () => expect(await kept()).to.have.members([2, 3]), 10_000);
  });
});
