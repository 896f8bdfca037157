/** The agents of queues: in memory, and in the database for the next start. */
import type { Cluster, SharedQueues } from '../cluster/index.ts';
import { asDomainName, type DomainName } from '../domain-name/index.ts';
import { type LiveDirectory, StoredAgents } from '../domain/index.ts';
import {
  AgentDesk,
  type AgentDeskOptions,
  type AgentSettings,
  MemoryQueues,
  type RunServices,
  systemClock,
} from '../runs/index.ts';
import type { Storage } from '../storage/index.ts';
import type { LateParts } from './late.ts';
import type { Shutdown } from './shutdown.ts';

export interface AgentNeeds {
  readonly storage: Storage;
  readonly directory: LiveDirectory;
  readonly late: LateParts;
  /** Undefined on a single node. */
  readonly cluster: Cluster | undefined;
  readonly shutdown: Pick<Shutdown, 'add'>;
}

/** Queues of callers, and the agents who serve them. */
export async function openQueues(needs: AgentNeeds): Promise<Pick<RunServices, 'queues' | 'agents'>> {
  const { late, cluster } = needs;
  const queues = new MemoryQueues();
  const isBusy = (domain: DomainName, number: string): boolean => late.switch.part.isOnCall(domain, number);
  if (cluster === undefined) return { queues, agents: (await openAgents(needs, { isBusy })).desk };
  const { desk, reload } = await openAgents(needs, {
    isBusy,
    busyElsewhere: (domain, numbers) => shared.busyElsewhere(domain, numbers),
  });
  const shared: SharedQueues = cluster.queues({
    queues,
    agents: desk,
    reload,
    isBusy,
    media: ({ dialogid, side }) => {
      const endpoint = late.switch.part.liveCall(dialogid)?.legs.find((leg) => leg.side === side)?.endpoint;
      return endpoint && { server: endpoint.server.name, uuid: endpoint.uuid };
    },
  });
  return shared;
}

async function openAgents(
  { storage, directory, shutdown }: AgentNeeds,
  calls: Pick<AgentDeskOptions, 'isBusy' | 'busyElsewhere'>,
): Promise<{ readonly desk: AgentDesk; readonly reload: () => Promise<void> }> {
  const stored = new StoredAgents(storage);
  shutdown.add('agents', () => stored.close());
  const desk = new AgentDesk({
    clock: systemClock,
    ...calls,
    keep: (domain, number, settings) => {
      const id = directory.domain(domain)?.id;
      if (id === undefined) return undefined;
      const key = { domain_id: id, number };
      return stored.save(key, settings && { ...key, ...settings });
    },
  });
  const reload = async (): Promise<void> => {
    await desk.kept();
    const kept = new Map<string, Map<string, AgentSettings>>();
    for (const { domain_id, number, state, queues, skills } of await stored.load()) {
      const agents = kept.get(domain_id) ?? new Map<string, AgentSettings>();
      kept.set(domain_id, agents);
      agents.set(number, { state, queues, skills });
    }
    for (const { id, name } of directory.domains()) desk.restoreAll(name, kept.get(id) ?? new Map());
  };
  await reload();
  directory.collections.domains.onChange(({ before, after }) => {
    if (before === undefined || before.name === after?.name) return;
    const old = asDomainName(before.name);
    // A renamed domain keeps its agents.
    if (after !== undefined)
      for (const { number, state, queues, skills } of desk.list(old))
        desk.restore(asDomainName(after.name), number, { state, queues, skills });
    desk.forget(old);
  });
  return { desk, reload };
}
