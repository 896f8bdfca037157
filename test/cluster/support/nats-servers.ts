/** Three nats-servers that keep copies of each other's streams, by Raft. */
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { freeTcpPort } from '../../support/ports.ts';
import { NatsServer } from './nats-server.ts';

const COUNT = 3;
const PATIENCE_MS = 60_000;

export interface StreamCopies {
  readonly copies: number;
  readonly complete: boolean;
  readonly leader: number;
}

/** They can be stopped and started again, one by one. */
export class NatsServers {
  readonly servers: readonly NatsServer[];

  private constructor(servers: readonly NatsServer[]) {
    this.servers = servers;
  }

  /** @param running how many of them go on; the others can be started again */
  static async start(running = COUNT): Promise<NatsServers> {
    const ports = await Promise.all(Array.from({ length: COUNT }, () => freeTcpPort()));
    const routes = ports.map((port) => `nats://127.0.0.1:${port}`);
    const made = await Promise.all(
      routes.map((route, at) => {
        const names = ['-n', nameOf(at), '--cluster_name', 'ringmaster'];
        return NatsServer.make([...names, '--cluster', route, '--routes', routes.join(',')]);
      }),
    );
    const servers = new NatsServers(made);
    // Newer ones choose no leader before all were there once.
    await servers.start();
    await Promise.all(made.slice(running).map((server) => server.stop()));
    await servers.#agreed();
    return servers;
  }

  get port(): number {
    return this.servers[0]?.port ?? 0;
  }

  /** As in RINGMASTER_CLUSTER. */
  get url(): string {
    return this.servers.map(({ url }) => url).join(',');
  }

  /** Copies of each stream, whether all of them are complete, and the position of the server that stores it; -1: there is none. */
  async streams(): Promise<Record<string, StreamCopies>> {
    return await this.#asked(async (manager) => {
      const found = await manager.streams.list().next();
      return Object.fromEntries(
        found.map(({ config, cluster }) => {
          const leader = this.servers.findIndex((_, at) => nameOf(at) === cluster?.leader);
          const others = cluster?.replicas ?? [];
          return [
            config.name,
            { copies: config.num_replicas, leader, complete: others.every(({ current }) => current) },
          ];
        }),
      );
    });
  }

  /** Starts those that do not run. */
  async start(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.start()));
    await this.#agreed();
  }

  /** The values of a bucket, of JSON. */
  async values<T>(bucket: string): Promise<readonly T[]> {
    return await this.#connected(async (connection) => {
      const kv = await new Kvm(connection).open(bucket);
      const values: T[] = [];
      for await (const entry of await kv.history()) if (entry.length > 0) values.push(entry.json<T>());
      return values;
    });
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }

  async remove(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.remove()));
  }

  /** They have chosen a leader. */
  async #agreed(): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      try {
        await this.#asked((manager) => manager.getAccountInfo());
        return;
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
    }
  }

  async #asked<T>(ask: (manager: JetStreamManager) => Promise<T>): Promise<T> {
    return await this.#connected(
      async (connection) => await ask(await jetstreamManager(connection, { timeout: 2000 })),
    );
  }

  async #connected<T>(use: (connection: NatsConnection) => Promise<T>): Promise<T> {
    const connection = await connect({ servers: this.url.split(',') });
    try {
      return await use(connection);
    } finally {
      await connection.close();
    }
  }
}

function nameOf(at: number): string {
  return `s${at + 1}`;
}
