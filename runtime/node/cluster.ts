/** The node's place in a cluster. */
import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import type { Cluster } from '../cluster/index.ts';
import type { Config } from '../config/index.ts';
import type { Drain } from './drain.ts';

/** Roles of a node; every node has all of them. */
const ROLES = ['mware', 'b2b', 'conf', 'esg', 'callstore', 'ivr'];

/** Loads what a cluster needs, and connects; undefined where the settings name none: nothing is loaded then. */
export async function openCluster(config: Config, log: Logger): Promise<Cluster | undefined> {
  if (config.cluster === undefined) return undefined;
  if (config.drachtio.length === 0)
    log.warn(
      'RINGMASTER_CLUSTER without RINGMASTER_DRACHTIO: phones behind NAT, or on connections, are reached by their own node only',
    );
  const { Cluster: Room } = await import('../cluster/index.ts');
  return await Room.open(config.cluster, log);
}

export interface JoinNeeds {
  readonly config: Config;
  /** URL of the REST service. */
  readonly http: string;
  readonly drain: Pick<Drain, 'state'>;
}

/** Tells the other nodes of this one, and goes on telling. */
export function joinCluster(cluster: Cluster, { config, http, drain }: JoinNeeds): void {
  const started = Date.now();
  const version = ownVersion();
  cluster.join(() => {
    const { state, calls, runs } = drain.state;
    return {
      site: config.site,
      roles: ROLES,
      version,
      http,
      started,
      state,
      load: { calls, runs },
    };
  });
}

function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    readonly version: string;
  };
  return version;
}
