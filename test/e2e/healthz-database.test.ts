import { expect } from 'chai';
import { SilentWay } from '../storage/support/silent-way.ts';
import { postgresServer } from '../storage/support/postgres-server.ts';
import { TestNode } from '../support/node.ts';

describe('/healthz and the database', () => {
  before(async function () {
    if ((await postgresServer()) !== undefined) return;
    if (process.env['RINGMASTER_REQUIRE_PEERS'] === '1') throw new Error('PostgreSQL is not installed.');
    this.skip();
  });

  it('reports an answering, slow or missing database, while calls still work', async function () {
    this.timeout(60_000);
    const way = await SilentWay.open((await (await postgresServer())?.createDatabase()) ?? '');
    const node = await TestNode.start({ env: { DATABASE_URL: way.url } });
    const health = async (): Promise<unknown> => {
      const answer = await fetch(`${node.base}/healthz`);
      return { status: answer.status, database: ((await answer.json()) as { database: unknown }).database };
    };
    try {
      expect(await health()).to.deep.equal({ status: 200, database: 'ok' });
      way.silence();
      expect(await health()).to.deep.equal({ status: 200, database: 'slow' });
      way.close();
      expect(await health()).to.deep.equal({ status: 200, database: 'unavailable' });
    } finally {
      await node.remove();
      way.close();
    }
  });
});
