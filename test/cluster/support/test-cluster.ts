/** Several nodes that share PostgreSQL, NATS, SIP servers and a media server. */
import { expect } from 'chai';
import { Client } from 'pg';
import { Phone, type PhoneOptions } from '../../phones/phone.ts';
import type { RestClient } from '../../phones/rest-client.ts';
import { postgresServer } from '../../storage/support/postgres-server.ts';
import { Cable } from '../../support/cable.ts';
import { eventually } from '../../support/eventually.ts';
import { TestNode } from '../../support/node.ts';
import {
  type MediaServerProgram,
  mediaServerProgram,
  type SipServerProgram,
  sipServerProgram,
} from '../../support/server-programs.ts';
import type { Login } from '../../support/stage.ts';
import { NatsServer, requireNats } from './nats-server.ts';

/** A node with a session of the domain's administrator; of a node without REST the first one's. */
export interface ClusterNode {
  readonly node: TestNode;
  readonly rest: RestClient;
}

/** One server of NATS, or several. */
type Nats = Pick<NatsServer, 'port' | 'url' | 'start' | 'stop' | 'remove'>;

export class TestCluster {
  readonly nats: Nats;
  readonly sips: readonly SipServerProgram[];
  readonly nodes: readonly ClusterNode[];
  /** Between the last node and NATS. */
  readonly cable: Cable;
  readonly databaseUrl: string;
  readonly media: MediaServerProgram;
  #phones: Phone[] = [];

  private constructor(
    nats: Nats,
    sips: readonly SipServerProgram[],
    media: MediaServerProgram,
    nodes: readonly ClusterNode[],
    cable: Cable,
    databaseUrl: string,
  ) {
    this.databaseUrl = databaseUrl;
    this.nats = nats;
    this.cable = cable;
    this.sips = sips;
    this.media = media;
    this.nodes = nodes;
  }

  /**
   * Starts nodes `n1`, `n2`, ... with two SIP servers.
   * @param roles of each node; absent: all
   * @param nats absent: one server of its own
   */
  static async start(count: number, roles: readonly string[] = [], nats?: Nats): Promise<TestCluster> {
    const databaseUrl = await (await postgresServer())?.createDatabase();
    const used = nats ?? (await NatsServer.start());
    const sips = [await sipServerProgram(), await sipServerProgram()];
    const media = await mediaServerProgram();
    await Promise.all([...sips, media].map((server) => server.start()));
    const cable = await Cable.to(used.port);
    const start = async (at: number): Promise<ClusterNode> => {
      const node = await TestNode.start({
        env: {
          DATABASE_URL: databaseUrl ?? '',
          RINGMASTER_CLUSTER: at === count && nats === undefined ? `nats://127.0.0.1:${cable.port}` : used.url,
          RINGMASTER_NODE: `n${at}`,
          RINGMASTER_ROLES: roles[at - 1] ?? '',
          RINGMASTER_DRAIN: '20',
          RINGMASTER_DRACHTIO: sips.map(({ setting }) => setting).join(','),
          RINGMASTER_FREESWITCH: media.setting,
          RINGMASTER_WEBHOOK_NETWORKS: '127.0.0.1',
          RINGMASTER_SCENARIO_HOSTS: '127.0.0.1',
          RINGMASTER_SCENARIO_NETWORKS: '127.0.0.1',
        },
      });
      const [first] = nodes;
      const servesRest = roles[at - 1]?.includes('mware') ?? true;
      return { node, rest: servesRest || first === undefined ? await node.login() : first.rest };
    };
    const nodes: ClusterNode[] = [];
    const cluster = new TestCluster(used, sips, media, nodes, cable, databaseUrl ?? '');
    try {
      // The first one makes the tables.
      nodes.push(await start(1));
      const others = await Promise.allSettled(Array.from({ length: count - 1 }, (_, at) => start(at + 2)));
      for (const each of others) if (each.status === 'fulfilled') nodes.push(each.value);
      for (const each of others) if (each.status === 'rejected') throw each.reason;
      await cluster.joined();
      return cluster;
    } catch (error) {
      await cluster.remove();
      throw error;
    }
  }

  /** Waits until each node sees all. */
  async joined(): Promise<void> {
    await eventually(async () => {
      for (const { node } of this.nodes) {
        const health = await node.health();
        expect(health).to.have.property('cluster').that.includes({ state: 'ok', nodes: this.nodes.length });
        expect(health.counts['sip_servers']).to.equal(this.sips.length);
      }
    }, 20_000);
  }

  node(at: number): ClusterNode {
    const found = this.nodes[at];
    if (found === undefined) throw new Error(`no node ${at}`);
    return found;
  }

  /** Number of dead processes that living nodes have taken care of, by the database. */
  async settled(): Promise<number> {
    const client = new Client(this.databaseUrl);
    await client.connect();
    try {
      const { rowCount } = await client.query(
        "select 1 from cluster_starts where name like 'lost %' and owner is null",
      );
      return rowCount ?? 0;
    } finally {
      await client.end();
    }
  }

  /** Positions of the nodes with rooms. */
  async roomNodes(): Promise<number[]> {
    const counts = await Promise.all(
      this.nodes.map(async ({ node }) => (await node.health()).counts['conferences'] ?? 0),
    );
    return counts.flatMap((count, at) => (count > 0 ? [at] : []));
  }

  /** A registered phone at one of the SIP servers. */
  async phone(login: Login, sip: number, options: Partial<PhoneOptions> = {}): Promise<Phone> {
    const registrar = this.sips[sip]?.address ?? '';
    const account = { login, domain: 'demo.local', password: `demo-${login}`, registrar };
    const phone = await Phone.start({ ...account, ...options });
    this.#phones.push(phone);
    expect(await phone.register()).to.include({ status: 200 });
    return phone;
  }

  /** The same, once every node knows where it is. */
  async knownPhone(login: Login, sip: number, options: Partial<PhoneOptions> = {}): Promise<Phone> {
    const phone = await this.phone(login, sip, options);
    await eventually(async () => {
      for (const { rest } of this.nodes) {
        const known = (await rest.get('/rest/v1/domain/registrations')).json<{ contact: string }[]>();
        expect(known.map(({ contact }) => contact)).to.include(phone.contact);
      }
    });
    return phone;
  }

  async stopPhones(): Promise<void> {
    const phones = this.#phones;
    this.#phones = [];
    await Promise.all(phones.map((phone) => phone.stop()));
    expect(phones.flatMap(({ violations }) => violations)).to.deep.equal([]);
  }

  async remove(): Promise<void> {
    for (const { rest } of this.nodes) rest.close();
    await Promise.all(this.nodes.map(({ node }) => node.remove()));
    await Promise.all([...this.sips, this.media].map((server) => server.stop()));
    this.cable.close();
    await this.nats.remove();
  }
}

let shared: Promise<TestCluster> | undefined;

// Benchmarks start clusters, too.
if (typeof after === 'function')
  after('stop the shared cluster', async function () {
    this.timeout(60_000);
    await (await shared)?.remove();
  });

/** A cluster of three nodes for the tests of several files, which leave it as it was. */
export function useSharedCluster(): () => TestCluster {
  let cluster: TestCluster | undefined;
  before(async function () {
    this.timeout(120_000);
    await requireServers(this);
    shared ??= TestCluster.start(3);
    cluster = await shared;
  });
  afterEach(() => cluster?.stopPhones());
  return () => started(cluster);
}

function started(cluster: TestCluster | undefined): TestCluster {
  if (cluster === undefined) throw new Error('the cluster starts before the first test');
  return cluster;
}

export async function requireServers(context: Mocha.Context): Promise<void> {
  requireNats(context);
  if ((await postgresServer()) !== undefined) return;
  if (process.env['RINGMASTER_REQUIRE_PEERS'] === '1') throw new Error('PostgreSQL is not installed.');
  context.skip();
}

/**
 * A cluster for the tests of a file; skipped where NATS or PostgreSQL is not installed.
 * @param roles of each node; absent: all
 */
export function useCluster(count: number, roles?: readonly string[]): () => TestCluster {
  let cluster: TestCluster | undefined;
  before(async function () {
    this.timeout(120_000);
    await requireServers(this);
    cluster = await TestCluster.start(count, roles);
  });
  afterEach(() => cluster?.stopPhones());
  after(async function () {
    this.timeout(60_000);
    await cluster?.remove();
  });
  return () => started(cluster);
}
