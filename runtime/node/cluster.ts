/** The node's place in a cluster. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Cluster } from '../cluster/index.ts';
import type { Config } from '../config/index.ts';
import { StoredSubscriptions } from '../domain/index.ts';
import type { CallHistory } from '../history/index.ts';
import type { RingingInvite, SipLinks, WaitingInvite } from '../signalling/index.ts';
import type { Storage } from '../storage/index.ts';
import type { Calls } from './calls.ts';
import type { Drain } from './drain.ts';
import type { Duties } from './duties.ts';
import type { Links } from './links.ts';
import { nodeName } from './node-name.ts';

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
  /** Of phones. */
  readonly subscriptions: () => number;
}

/** Tells the other nodes of this one, and goes on telling. Settles when the nodes know each other, or NATS takes too long. */
export async function joinCluster(cluster: Cluster, { config, http, drain, subscriptions }: JoinNeeds): Promise<void> {
  const started = Date.now();
  const version = ownVersion();
  await cluster.join(() => {
    const { state, calls, runs } = drain.state;
    return {
      site: config.site,
      roles: [...config.roles],
      version,
      http,
      started,
      state,
      load: { calls, runs, subscriptions: subscriptions() },
    };
  });
}

/**
 * Takes turns with the other nodes at the SIP servers, from now on. While this node drains, or where it takes no calls at all, the others
 * take them, as long as one of them does.
 * @returns ends that
 */
export function takeTurns(
  cluster: Cluster,
  drain: Pick<Drain, 'refusal' | 'onChange'>,
  sip: SipLinks,
  { calls }: Duties,
): () => void {
  const look = (): void => {
    const takesNone = drain.refusal !== undefined || !calls;
    sip.rests = takesNone && cluster.state.state === 'ok' && cluster.othersTakeCalls;
  };
  look();
  drain.onChange(look);
  // The others come and go.
  const timer = setInterval(look, 500).unref();
  return () => clearInterval(timer);
}

export interface InheritNeeds {
  readonly config: Pick<Config, 'dataDir'>;
  readonly storage: Storage;
  readonly calls: Pick<Calls, 'switch' | 'conferences'>;
  readonly links: Links;
  readonly history: CallHistory;
  readonly log: Logger;
}

/** Takes care of what dead nodes leave, and of what an earlier process of this node left. */
export function inherit(cluster: Cluster, { config, storage, calls, links, history, log }: InheritNeeds): void {
  const { adopted } = calls.switch;
  const rooms = calls.conferences.lost;
  cluster.inherit({
    storage,
    live: (inviteid) => calls.switch.hasCall(inviteid),
    heir: {
      call: (node, call, isOurs) => adopted.take(node, call, isOurs),
      invites: (ringing, waiting) =>
        links.sip.settleLeft(ringing as readonly RingingInvite[], waiting as readonly WaitingInvite[]),
      subscriptions: (node) => calls.switch.takeOverSubscriptions(node),
      farewell: (farewell) => rooms.tell(farewell),
      ended: (ids) => [...adopted.ended(ids), ...rooms.told(ids)],
      returned: (node) => {
        adopted.giveBack(node);
        calls.switch
          .giveBackSubscriptions(node)
          .catch((err: unknown) => log.error({ err, node }, 'subscriptions were not given back to their node'));
      },
    },
  });
  const earlier = earlierProcess(config);
  writeFileSync(processFile(config), `${JSON.stringify({ id: cluster.id })}\n`);
  const settle = async (): Promise<void> => {
    const left = new Map(history.left.map((facts) => [facts.id, facts]));
    const lost = earlier === undefined ? [...left.keys()] : await cluster.settleEarlier(earlier, [...left.keys()]);
    for (const [id, facts] of left) {
      if (lost.includes(id)) history.lost(facts);
      else history.forget(id);
    }
  };
  settle().catch((err: unknown) => log.error({ err }, 'calls of an earlier process of this node were not ended'));
}

/** Id of the process that used the data directory before; undefined for the first one in a cluster. */
export function earlierProcess(config: Pick<Config, 'dataDir'>): string | undefined {
  try {
    const { id } = JSON.parse(readFileSync(processFile(config), 'utf8')) as { readonly id?: unknown };
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
}

function processFile({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'cluster-process.json');
}

function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    readonly version: string;
  };
  return version;
}

/** The stored subscriptions of phones; in a cluster by the process that sends their NOTIFYs. */
export function openSubscriptions(
  storage: Storage,
  config: Pick<Config, 'dataDir'>,
  cluster: Pick<Cluster, 'id'> | undefined,
): StoredSubscriptions {
  const name = nodeName(config);
  const earlier = earlierProcess(config) ?? name;
  return cluster === undefined
    ? new StoredSubscriptions(storage, name, [earlier])
    : new StoredSubscriptions(storage, cluster.id, [name, earlier]);
}
