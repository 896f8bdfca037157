import { expect } from 'chai';
import { TestNode } from '../../support/node.ts';
import { postgresServer } from '../../storage/support/postgres-server.ts';

describe('REST: a node that is killed while it writes entities', () => {
  before(async function () {
    if ((await postgresServer()) !== undefined) return;
    if (process.env['RINGMASTER_REQUIRE_PEERS'] === '1') throw new Error('PostgreSQL is not installed.');
    this.skip();
  });

  it('loses no acknowledged write', async function () {
    this.timeout(120_000);
    const databaseUrl = (await (await postgresServer())?.createDatabase()) ?? '';
    const node = await TestNode.start({ env: { DATABASE_URL: databaseUrl } });
    try {
      const client = await node.login();
      const settings = {
        classname: 'kept',
        storage_mode: 'category',
        properties: [{ name: 'n', data_type: 'integer' }],
      };
      expect((await client.send('POST', '/rest/v1/domain/classes', { body: settings })).status).to.equal(200);
      const acknowledged: string[] = [];
      const killed = Promise.withResolvers<void>();
      const write = async (writer: number): Promise<void> => {
        for (let n = 0; ; n += 1) {
          const id = `${writer}-${n}`;
          const answer = await client.send('PUT', `/rest/v1/model/kept/${id}`, { body: { n } });
          if (answer.status === 200) acknowledged.push(id);
          if (acknowledged.length === 100) killed.resolve();
        }
      };
      const writers = Promise.allSettled(Array.from({ length: 8 }, (_, writer) => write(writer)));
      await killed.promise;
      await node.kill();
      // Each ends with its connection.
      await writers;
      client.close();
      await node.restart();
      const again = await node.login();
      const rows = (await again.get('/rest/v1/model/kept', { mask: 'id' })).json<{ id: string }[]>();
      again.close();
      expect(rows.map(({ id }) => id)).to.include.members(acknowledged);
    } finally {
      await node.remove();
    }
  });
});
