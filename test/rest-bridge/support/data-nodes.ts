import { postgresServer } from '../../storage/support/postgres-server.ts';
import { DataNode, type DataNodeOptions } from './data-node.ts';

/**
 * Declares `body` over a started node on PGlite, and again over one on a PostgreSQL server. Without a server the latter
 * is skipped, or fails when RINGMASTER_REQUIRE_PEERS is 1.
 */
export function describeNodes(
  title: string,
  body: (node: () => DataNode) => void,
  options: DataNodeOptions = {},
): void {
  const declare = (databaseUrl: () => Promise<string | undefined>) => () => {
    let node: DataNode | undefined;
    before(async () => {
      node = await DataNode.start({ ...options, databaseUrl: await databaseUrl() });
    });
    after(() => node?.close());
    body(() => {
      if (node === undefined) throw new Error('The node starts before the first test.');
      return node;
    });
  };
  describe(
    `${title} [PGlite]`,
    declare(async () => undefined),
  );
  describe(`${title} [PostgreSQL]`, () => {
    before(requirePostgres);
    declare(async () => (await postgresServer())?.createDatabase())();
  });
}

/** Declares `body` over two nodes on one PostgreSQL database; skipped, or failing, as `describeNodes`. */
export function describeTwoNodes(
  title: string,
  body: (nodes: () => readonly [DataNode, DataNode]) => void,
  options: DataNodeOptions = {},
): void {
  describe(`${title} [two nodes]`, () => {
    const nodes: DataNode[] = [];
    before(requirePostgres);
    before(async () => {
      const databaseUrl = await (await postgresServer())?.createDatabase();
      nodes.push(await DataNode.start({ ...options, databaseUrl }));
      nodes.push(await DataNode.start({ ...options, databaseUrl, joins: true }));
    });
    after(async () => {
      for (const node of nodes) await node.close();
    });
    body(() => {
      const [first, second] = nodes;
      if (first === undefined || second === undefined) throw new Error('The nodes start before the first test.');
      return [first, second];
    });
  });
}

async function requirePostgres(this: Mocha.Context): Promise<void> {
  if ((await postgresServer()) !== undefined) return;
  if (process.env['RINGMASTER_REQUIRE_PEERS'] === '1') throw new Error('PostgreSQL is not installed.');
  this.skip();
}
