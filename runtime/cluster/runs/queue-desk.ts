/** The queues and agents of all nodes, at the node that keeps them. */
import { asDomainName, type DomainName } from '../../domain-name/index.ts';
import type { AgentDesk, AgentSettings, AgentView, MemoryQueues, QueueView, Seeker } from '../../runs/index.ts';

/** A line as a node with callers in it knows it. */
export interface LineState {
  readonly domain: string;
  readonly name: string;
  /** Runs of the callers, in order. */
  readonly order: readonly string[];
  readonly serving: number | undefined;
  /** Of the node that keeps the line. */
  readonly desk: string;
  /** Grows with each change. */
  readonly change: number;
}

export interface LinePlace {
  readonly domain: string;
  readonly name: string;
  readonly run: string;
}

export interface Caller extends LinePlace {
  readonly priority: number;
}

/** A caller of a node who waits for an agent. */
export interface ToldSeeker extends Omit<Seeker, 'offered'> {
  /** Of this wait. */
  readonly id: string;
  readonly domain: string;
}

/** An agent and the run that has it. */
export interface Hold {
  readonly domain: string;
  readonly number: string;
  readonly run: string;
}

/** All that the desk should know of a node. */
export interface NodeState {
  readonly callers: readonly (Caller & { readonly since: number })[];
  readonly seekers: readonly ToldSeeker[];
  readonly holds: readonly (Hold & { readonly queue: string; readonly talks: boolean })[];
  /** Agents in their wrap-up, which ends in so many milliseconds. */
  readonly pauses: readonly (Hold & { readonly milliseconds: number })[];
}

export interface DeskNeeds {
  /** Of this process. */
  readonly id: string;
  readonly queues: MemoryQueues;
  readonly agents: AgentDesk;
  /** Tells a node the state of a line. */
  readonly tellLine: (node: string, line: LineState) => void;
  /** Offers an agent to a caller of a node; false when the caller does not wait any more. It must not reject. */
  readonly offer: (node: string, id: string, hold: Hold) => Promise<boolean>;
  /** Of these agents, those in a call at another node. */
  readonly busyElsewhere: (domain: DomainName, numbers: readonly string[]) => Promise<ReadonlySet<string>>;
  readonly now: () => number;
}

/** What the desk has of a node. */
interface Client {
  readonly callers: Map<string, LinePlace>;
  readonly seekers: Map<string, () => void>;
  readonly holds: Map<string, Hold>;
}

/** The parameter `node` of each method is the node that asks. Its death takes its callers out of all lines. */
export class QueueDesk {
  readonly #needs: DeskNeeds;
  readonly #clients = new Map<string, Client>();
  #changes = 0;

  constructor(needs: DeskNeeds) {
    this.#needs = needs;
  }

  /** @returns the time of arrival, and the line; null when it is full */
  enter(node: string, caller: Caller): { readonly since: number; readonly line: LineState } | null {
    const { domain, name, run, priority } = caller;
    const { queues, now } = this.#needs;
    const entry = queues.enter(asDomainName(domain), name, { run, priority, since: now(), moved: () => undefined });
    if (entry === undefined) return null;
    this.#client(node).callers.set(placeKey(caller), { domain, name, run });
    return { since: entry.since, line: this.#changed(caller, node) };
  }

  leave(node: string, place: LinePlace): void {
    this.#client(node).callers.delete(placeKey(place));
    this.#needs.queues.leave(asDomainName(place.domain), place.name, place.run);
    this.#changed(place);
  }

  served(
    _node: string,
    { domain, name, milliseconds }: Omit<LinePlace, 'run'> & { readonly milliseconds: number },
  ): void {
    this.#needs.queues.served(asDomainName(domain), name, milliseconds);
    this.#changed({ domain, name });
  }

  list(_node: string, { domain }: { readonly domain: string }): readonly QueueView[] {
    return this.#needs.queues.list(asDomainName(domain));
  }

  seek(node: string, seeker: ToldSeeker): void {
    const { seekers, holds } = this.#client(node);
    if (seekers.has(seeker.id)) return;
    const { id, domain, run, queue } = seeker;
    const { agents, offer } = this.#needs;
    const offered = (number: string): void => {
      const hold = { domain, number, run };
      seekers.delete(id);
      holds.set(holdKey(hold), hold);
      void offer(node, id, hold).then((taken) => {
        if (!taken) this.release(node, { ...hold, pauseMs: 0 });
      });
    };
    // An agent may be offered at once.
    seekers.set(id, () => undefined);
    const stop = agents.seek(asDomainName(domain), { ...seeker, queue, offered });
    if (seekers.has(id)) seekers.set(id, stop);
  }

  unseek(node: string, { id }: Pick<ToldSeeker, 'id'>): void {
    const { seekers } = this.#client(node);
    seekers.get(id)?.();
    seekers.delete(id);
  }

  talks(_node: string, { domain, number, run }: Hold): void {
    // The conversation itself is asked of its node.
    this.#needs.agents.talks(asDomainName(domain), number, run, () => undefined);
  }

  release(node: string, hold: Hold & { readonly pauseMs: number }): void {
    const { domain, number, run, pauseMs } = hold;
    this.#client(node).holds.delete(holdKey(hold));
    this.#needs.agents.release(asDomainName(domain), number, run, pauseMs);
  }

  async agents(_node: string, { domain }: { readonly domain: string }): Promise<readonly AgentView[]> {
    const name = asDomainName(domain);
    return await this.#withCalls(name, this.#needs.agents.list(name));
  }

  async agent(_node: string, { domain, number }: Omit<Hold, 'run'>): Promise<AgentView | null> {
    const name = asDomainName(domain);
    const found = this.#needs.agents.get(name, number);
    return found === undefined ? null : ((await this.#withCalls(name, [found]))[0] ?? null);
  }

  async set(
    _node: string,
    { domain, number, change }: Omit<Hold, 'run'> & { readonly change: Partial<AgentSettings> },
  ): Promise<AgentView> {
    const view = this.#needs.agents.set(asDomainName(domain), number, change);
    await this.#needs.agents.kept();
    return view;
  }

  async remove(_node: string, { domain, number }: Omit<Hold, 'run'>): Promise<boolean> {
    const removed = this.#needs.agents.remove(asDomainName(domain), number);
    await this.#needs.agents.kept();
    return removed;
  }

  staffed(_node: string, { domain, ...kind }: Pick<ToldSeeker, 'domain' | 'queue' | 'skills' | 'agents'>): number {
    return this.#needs.agents.staffed(asDomainName(domain), kind);
  }

  /** Takes the state of a node, in the place of what was known of it. */
  sync(node: string, state: NodeState): void {
    const client = this.#client(node);
    const { agents, queues } = this.#needs;
    for (const { queue, talks, ...hold } of state.holds) {
      agents.hold(asDomainName(hold.domain), hold.number, { run: hold.run, queue });
      client.holds.set(holdKey(hold), hold);
      if (talks) this.talks(node, hold);
    }
    for (const { milliseconds, ...hold } of state.pauses) {
      agents.hold(asDomainName(hold.domain), hold.number, { run: hold.run, queue: '' });
      this.release(node, { ...hold, pauseMs: milliseconds });
    }
    for (const { since, priority, ...place } of state.callers) {
      const caller = { run: place.run, since, priority, moved: () => undefined };
      queues.restore(asDomainName(place.domain), place.name, caller);
      client.callers.set(placeKey(place), place);
    }
    const [callers, seekers, holds] = [
      new Set(state.callers.map(placeKey)),
      new Set(state.seekers.map(({ id }) => id)),
      new Set(state.holds.map(holdKey)),
    ];
    for (const [key, place] of client.callers) if (!callers.has(key)) this.leave(node, place);
    for (const id of client.seekers.keys()) if (!seekers.has(id)) this.unseek(node, { id });
    for (const [key, hold] of client.holds) if (!holds.has(key)) this.release(node, { ...hold, pauseMs: 0 });
    for (const seeker of state.seekers) this.seek(node, seeker);
    for (const place of state.callers) this.#changed(place);
  }

  /** The node died, or another desk has its callers now. */
  drop(node: string): void {
    if (!this.#clients.has(node)) return;
    this.sync(node, { callers: [], seekers: [], holds: [], pauses: [] });
    this.#clients.delete(node);
  }

  /** Drops all but one. */
  dropOthers(kept: string | undefined): void {
    for (const node of this.#clients.keys()) if (node !== kept) this.drop(node);
  }

  #client(node: string): Client {
    const client = this.#clients.get(node) ?? { callers: new Map(), seekers: new Map(), holds: new Map() };
    this.#clients.set(node, client);
    return client;
  }

  /** Tells the nodes of a line how it is. @param told knows it already */
  #changed({ domain, name }: Pick<LinePlace, 'domain' | 'name'>, told?: string): LineState {
    const { id: desk, queues, tellLine } = this.#needs;
    this.#changes += 1;
    const key = asDomainName(domain);
    const [order, serving] = [queues.runs(key, name), queues.servingTime(key, name)];
    const line = { domain, name, order, serving, desk, change: this.#changes };
    for (const [node, { callers }] of this.#clients) {
      const isIn = [...callers.values()].some((place) => place.domain === domain && place.name === name);
      if (isIn && node !== told) tellLine(node, line);
    }
    return line;
  }

  /** With the state `busy` of agents who have calls at other nodes. */
  async #withCalls(domain: DomainName, views: readonly AgentView[]): Promise<readonly AgentView[]> {
    const ready = views.filter(({ status }) => status === 'ready').map(({ number }) => number);
    if (ready.length === 0) return views;
    const busy = await this.#needs.busyElsewhere(domain, ready);
    return views.map((view) => (busy.has(view.number) && view.status === 'ready' ? { ...view, status: 'busy' } : view));
  }
}

function placeKey({ domain, name, run }: LinePlace): string {
  return `${domain} ${name} ${run}`;
}

function holdKey({ domain, number, run }: Hold): string {
  return `${domain} ${number} ${run}`;
}
