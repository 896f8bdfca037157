/** The agents of queues: in memory, and in the database for the next start. */
import { asDomainName } from '../domain-name/index.ts';
import { type LiveDirectory, StoredAgents } from '../domain/index.ts';
import { AgentDesk, systemClock } from '../runs/index.ts';
import type { Storage } from '../storage/index.ts';
import type { LateParts } from './late.ts';
import type { Shutdown } from './shutdown.ts';

export interface AgentNeeds {
  readonly storage: Storage;
  readonly directory: LiveDirectory;
  readonly late: LateParts;
  readonly shutdown: Pick<Shutdown, 'add'>;
}

export async function openAgents({ storage, directory, late, shutdown }: AgentNeeds): Promise<AgentDesk> {
  const stored = new StoredAgents(storage);
  shutdown.add('agents', () => stored.close());
  const desk = new AgentDesk({
    clock: systemClock,
    isBusy: (domain, number) => late.switch.part.isOnCall(domain, number),
    keep: (domain, number, settings) => {
      const id = directory.domain(domain)?.id;
      if (id === undefined) return undefined;
      const key = { domain_id: id, number };
      return stored.save(key, settings && { ...key, ...settings });
    },
  });
  const domains = new Map(directory.domains().map(({ id, name }) => [id, name]));
  for (const { domain_id, number, state, queues, skills } of await stored.load()) {
    const domain = domains.get(domain_id);
    if (domain !== undefined) desk.restore(domain, number, { state, queues, skills });
  }
  directory.collections.domains.onChange(({ before, after }) => {
    if (before === undefined || before.name === after?.name) return;
    const old = asDomainName(before.name);
    // A renamed domain keeps its agents.
    if (after !== undefined)
      for (const { number, state, queues, skills } of desk.list(old))
        desk.restore(asDomainName(after.name), number, { state, queues, skills });
    desk.forget(old);
  });
  return desk;
}
