/** Agents of queues: who is ready, and who gets which caller. */
import type { DomainName } from '../domain-name/index.ts';
import { ScenarioError } from '../language/index.ts';
import type { Clock } from './clock.ts';
import type { Agents, AgentSettings, AgentStatus, AgentTalk, AgentView, Seeker } from './ports/agents.ts';

export interface AgentDeskOptions {
  readonly clock: Clock;
  /** True for a number with a call of any kind. */
  readonly isBusy?: (domain: DomainName, number: string) => boolean;
  /** Those of the numbers that have a call at another node; absent on a single node. It must not reject. */
  readonly busyElsewhere?: (domain: DomainName, numbers: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Keeps the settings of an agent; undefined: it is removed. */
  readonly keep?: (domain: DomainName, number: string, settings: AgentSettings | undefined) => unknown;
}

interface Agent extends AgentSettings {
  readonly number: string;
  /** Only named by a queue: without settings of its own. */
  readonly passing: boolean;
  held: { readonly run: string; readonly queue: string; talk: (() => AgentTalk | undefined) | undefined } | undefined;
  /** End of the wrap-up, milliseconds since the epoch. */
  until: number;
  since: number;
  /** When it was last offered a caller. */
  last: number;
}

/** Limit of the agents of one node. */
const MAX_AGENTS = 10_000;
const NOBODY: ReadonlySet<string> = new Set();
/** Milliseconds between two looks at agents who are in other calls. */
const LOOK_AGAIN_MS = 2000;

/** The agents of a node, by domain and number. An agent has one caller of the queues at most. */
export class AgentDesk implements Agents {
  readonly #clock: Clock;
  readonly #isBusy: NonNullable<AgentDeskOptions['isBusy']>;
  readonly #keep: NonNullable<AgentDeskOptions['keep']>;
  readonly #busyElsewhere: AgentDeskOptions['busyElsewhere'];
  /** Domains for which other nodes are being asked; true: agents or callers changed meanwhile. */
  readonly #asking = new Map<DomainName, boolean>();
  readonly #agents = new Map<DomainName, Map<string, Agent>>();
  readonly #seekers = new Map<DomainName, Set<Seeker>>();
  readonly #timers = new Map<DomainName, AbortController>();
  #count = 0;
  #kept: unknown;

  constructor({ clock, isBusy = () => false, keep = () => undefined, busyElsewhere }: AgentDeskOptions) {
    this.#busyElsewhere = busyElsewhere;
    this.#clock = clock;
    this.#isBusy = isBusy;
    this.#keep = keep;
  }

  /** An agent with settings of its own, or one that a queue knows. */
  get(domain: DomainName, number: string): AgentView | undefined {
    const agent = this.#agents.get(domain)?.get(number);
    return agent && this.#view(domain, agent);
  }

  /** In the order of their numbers. */
  list(domain: DomainName): readonly AgentView[] {
    const agents = [...(this.#agents.get(domain)?.values() ?? [])];
    return agents.toSorted((a, b) => (a.number < b.number ? -1 : 1)).map((agent) => this.#view(domain, agent));
  }

  /**
   * Changes settings, or makes a new agent, who is ready.
   * @throws ScenarioError code `too_many`
   */
  set(domain: DomainName, number: string, change: Partial<AgentSettings>): AgentView {
    const agent = this.#restore(domain, number, change);
    this.#kept = this.#keep(domain, number, { state: agent.state, queues: agent.queues, skills: agent.skills });
    this.#match(domain);
    return this.#view(domain, agent);
  }

  /** Settles when the changes are kept. */
  async kept(): Promise<void> {
    await this.#kept;
  }

  /** Like `set`, for settings that are kept already. */
  restore(domain: DomainName, number: string, settings: AgentSettings): void {
    this.#restore(domain, number, settings);
  }

  /** The settings of all agents of a domain, as another node kept them. Agents with callers keep these. */
  restoreAll(domain: DomainName, kept: ReadonlyMap<string, AgentSettings>): void {
    for (const { number, passing, held } of this.#agents.get(domain)?.values() ?? [])
      if (!passing && held === undefined && !kept.has(number)) this.#drop(domain, number);
    for (const [number, settings] of kept) this.#restore(domain, number, settings);
    this.#match(domain);
  }

  /** @returns false for an unknown agent */
  remove(domain: DomainName, number: string): boolean {
    const agent = this.#agents.get(domain)?.get(number);
    if (agent === undefined) return false;
    this.#kept = this.#keep(domain, number, undefined);
    this.#drop(domain, number);
    return true;
  }

  /**
   * Waits for an agent. The agent is free of calls, not away, not in its wrap-up, has the skills, and no caller who comes
   * first could take it.
   * @returns a function that ends the wait
   */
  seek(domain: DomainName, seeker: Seeker): () => void {
    for (const number of seeker.agents ?? []) this.#known(domain, number);
    const seekers = this.#seekers.get(domain) ?? new Set();
    this.#seekers.set(domain, seekers);
    seekers.add(seeker);
    this.#match(domain);
    return () => {
      if (seekers.delete(seeker) && seekers.size === 0) this.#rest(domain);
    };
  }

  /** Forgets the agents of a removed domain. */
  forget(domain: DomainName): void {
    for (const number of this.#agents.get(domain)?.keys() ?? []) this.#drop(domain, number);
    this.#agents.delete(domain);
  }

  /** Holds an agent for a run that got it from another desk. */
  hold(domain: DomainName, number: string, { run, queue }: Pick<Seeker, 'run' | 'queue'>): void {
    const agent = this.#known(domain, number);
    if (agent.held !== undefined) return;
    agent.held = { run, queue, talk: undefined };
    agent.since = agent.last = this.#clock.now();
  }

  /** The agent has answered. @param talk its conversation, as long as there is one */
  talks(domain: DomainName, number: string, run: string, talk: () => AgentTalk | undefined): void {
    const agent = this.#agents.get(domain)?.get(number);
    if (agent?.held?.run !== run) return;
    agent.held.talk = talk;
    agent.since = this.#clock.now();
  }

  /** Frees the agent that is held for a run. @param pauseMs its wrap-up in milliseconds */
  release(domain: DomainName, number: string, run: string, pauseMs: number): void {
    const agent = this.#agents.get(domain)?.get(number);
    if (agent?.held?.run !== run) return;
    agent.held = undefined;
    agent.since = this.#clock.now();
    agent.until = agent.since + pauseMs;
    this.#match(domain);
  }

  /** The conversation of an agent with a caller of a queue. */
  talkOf(domain: DomainName, number: string): AgentTalk | undefined {
    return this.#agents.get(domain)?.get(number)?.held?.talk?.();
  }

  /** How many agents take callers of this kind, now or after the present ones. */
  staffed(domain: DomainName, seeker: Pick<Seeker, 'queue' | 'skills' | 'agents'>): number {
    let count = 0;
    for (const agent of this.#agents.get(domain)?.values() ?? []) if (takes(agent, seeker)) count += 1;
    return count;
  }

  #restore(domain: DomainName, number: string, change: Partial<AgentSettings>): Agent {
    const { state, queues, skills } = this.#known(domain, number);
    const agent = this.#agents.get(domain)?.get(number) as Agent;
    const since = change.state !== undefined && change.state !== state ? this.#clock.now() : agent.since;
    const changed: Agent = Object.assign(agent, { state, queues, skills, ...change, passing: false, since });
    return changed;
  }

  #known(domain: DomainName, number: string): Agent {
    const agents = this.#agents.get(domain) ?? new Map<string, Agent>();
    this.#agents.set(domain, agents);
    const known = agents.get(number);
    if (known) return known;
    if (this.#count >= MAX_AGENTS) this.#forget();
    if (this.#count >= MAX_AGENTS) throw new ScenarioError('too_many', `a node has ${MAX_AGENTS} agents at most`);
    const agent: Agent = {
      number,
      passing: true,
      state: 'ready',
      queues: [],
      skills: [],
      held: undefined,
      until: 0,
      since: this.#clock.now(),
      last: 0,
    };
    agents.set(number, agent);
    this.#count += 1;
    return agent;
  }

  /** Drops agents without settings that no caller waits for. */
  #forget(): void {
    const now = this.#clock.now();
    for (const [domain, agents] of this.#agents)
      for (const { number, passing, held, until } of agents.values())
        if (passing && held === undefined && until <= now && !this.#isWanted(domain, number))
          this.#drop(domain, number);
  }

  #isWanted(domain: DomainName, number: string): boolean {
    return [...(this.#seekers.get(domain) ?? [])].some(({ agents }) => agents?.includes(number) === true);
  }

  #drop(domain: DomainName, number: string): void {
    if (this.#agents.get(domain)?.delete(number) === true) this.#count -= 1;
  }

  /** Gives free agents to callers, in a cluster after a look at the calls of the other nodes. */
  #match(domain: DomainName): void {
    const { size = 0 } = this.#seekers.get(domain) ?? {};
    if (size === 0) return;
    if (this.#busyElsewhere === undefined) return this.#offer(domain, NOBODY);
    if (this.#asking.has(domain)) return void this.#asking.set(domain, true);
    const free = this.#free(domain);
    if (free.length === 0) return this.#offer(domain, NOBODY);
    this.#asking.set(domain, false);
    const numbers = free.map(({ number }) => number);
    void this.#busyElsewhere(domain, numbers).then((busy) => {
      const isOld = this.#asking.get(domain) === true;
      this.#asking.delete(domain);
      if (isOld) this.#match(domain);
      else this.#offer(domain, busy);
    });
  }

  #free(domain: DomainName): Agent[] {
    const now = this.#clock.now();
    return [...(this.#agents.get(domain)?.values() ?? [])].filter(
      (agent) => agent.state === 'ready' && agent.held === undefined && agent.until <= now,
    );
  }

  /** Who comes first has the agent whose last caller is longest ago. @param busy in a call elsewhere */
  #offer(domain: DomainName, busy: ReadonlySet<string>): void {
    const seekers = this.#seekers.get(domain);
    if (seekers === undefined || seekers.size === 0) return;
    const now = this.#clock.now();
    const free = this.#free(domain).toSorted((a, b) => a.last - b.last);
    const isBusy = (number: string): boolean => busy.has(number) || this.#isBusy(domain, number);
    const offers: (() => void)[] = [];
    for (const seeker of [...seekers].toSorted((a, b) => b.priority - a.priority || a.since - b.since)) {
      if (free.length === 0) break;
      const at = free.findIndex((agent) => takes(agent, seeker) && !isBusy(agent.number));
      const [agent] = at < 0 ? [] : free.splice(at, 1);
      if (agent === undefined) continue;
      agent.held = { run: seeker.run, queue: seeker.queue, talk: undefined };
      agent.since = agent.last = now;
      seekers.delete(seeker);
      offers.push(() => seeker.offered(agent.number));
    }
    if (seekers.size === 0) this.#rest(domain);
    else this.#lookAgain(domain, free.length > 0);
    for (const offer of offers) offer();
  }

  /** Looks again at the end of the next wrap-up, and soon when an agent is free but for another call. */
  #lookAgain(domain: DomainName, soon: boolean): void {
    const now = this.#clock.now();
    const ends = [...(this.#agents.get(domain)?.values() ?? [])]
      .map(({ until }) => until)
      .filter((until) => until > now);
    const next = Math.min(...ends, soon ? now + LOOK_AGAIN_MS : Infinity);
    this.#timers.get(domain)?.abort();
    this.#timers.delete(domain);
    if (next === Infinity) return;
    const timer = new AbortController();
    this.#timers.set(domain, timer);
    this.#clock.sleep(next - now, timer.signal).then(
      () => this.#match(domain),
      () => undefined,
    );
  }

  #rest(domain: DomainName): void {
    this.#timers.get(domain)?.abort();
    this.#timers.delete(domain);
  }

  #view(domain: DomainName, agent: Agent): AgentView {
    const { number, state, queues, skills, since, held } = agent;
    return { number, state, queues, skills, since, status: this.#status(domain, agent), queue: held?.queue ?? '' };
  }

  #status(domain: DomainName, { number, state, held, until }: Agent): AgentStatus {
    if (held !== undefined) return held.talk === undefined ? 'ringing' : 'talking';
    if (state === 'away') return 'away';
    if (until > this.#clock.now()) return 'wrap_up';
    return this.#isBusy(domain, number) ? 'busy' : 'ready';
  }
}

/** Whether an agent, when it is free, takes such callers. */
function takes(
  { number, state, queues, skills }: Agent,
  { queue, skills: wanted, agents }: Pick<Seeker, 'queue' | 'skills' | 'agents'>,
): boolean {
  if (state === 'away' || !wanted.every((skill) => skills.includes(skill))) return false;
  return agents === undefined ? queues.includes(queue) : agents.includes(number);
}
