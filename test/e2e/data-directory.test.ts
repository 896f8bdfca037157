import { expect } from 'chai';
import { Command } from '../cli/command.ts';
import { postgresServer } from '../storage/support/postgres-server.ts';
import { TestNode } from '../support/node.ts';
import { freeUdpRange } from '../support/ports.ts';

describe('the data directory of a node on PostgreSQL', () => {
  before(async function () {
    if ((await postgresServer()) !== undefined) return;
    if (process.env['RINGMASTER_REQUIRE_PEERS'] === '1') throw new Error('PostgreSQL is not installed.');
    this.skip();
  });

  it('is refused to a second node, and free again after the end of the first, also by kill -9', async function () {
    this.timeout(60_000);
    const DATABASE_URL = (await (await postgresServer())?.createDatabase()) ?? '';
    const node = await TestNode.start({ env: { DATABASE_URL } });
    try {
      const { from, to } = await freeUdpRange(100);
      const second = await Command.run(['start'], {
        DATABASE_URL,
        RINGMASTER_DATA_DIR: node.dataDir,
        RINGMASTER_HTTP_PORT: '0',
        RINGMASTER_SIP_PORT: '0',
        RINGMASTER_RTP_PORTS: `${from}-${to}`,
        RINGMASTER_LOG_LEVEL: 'warn',
      });
      await Promise.race([second.ended, second.printed(/Ringmaster is ready/).catch(() => undefined)]);
      const { code, err } = await second.terminate();
      expect(err).to.match(new RegExp(`^ringmaster: The data directory .* is in use by process ${node.pid}\\. .*\\n$`));
      expect(code).to.equal(1);
      await node.kill();
      await node.restart();
      await node.stop();
      await node.restart();
    } finally {
      await node.remove();
    }
  });
});
