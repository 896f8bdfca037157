/** The callers of this node in queues, and the agents whom they have: what the next keeper of the queues must know. */
import { asDomainName, type DomainName } from '../../domain-name/index.ts';
import type { AgentTalk, InLine, Seeker } from '../../runs/index.ts';
import type { Hold, LineState, NodeState, ToldSeeker } from './queue-desk.ts';

/** A caller of this node. */
interface OwnCaller {
  readonly domain: DomainName;
  readonly name: string;
  readonly caller: InLine;
  /** Its arrival by the clock of the desk. */
  readonly since: number;
}

interface OwnHold extends Hold {
  readonly queue: string;
  talk: (() => AgentTalk | undefined) | undefined;
}

export class OwnCallers {
  readonly #callers = new Map<string, OwnCaller>();
  readonly #seekers = new Map<string, { readonly told: ToldSeeker; readonly seeker: Seeker }>();
  readonly #holds = new Map<string, OwnHold>();
  readonly #pauses = new Map<string, Hold & { readonly until: number }>();
  readonly #lines = new Map<string, LineState>();
  #seeks = 0;

  caller(domain: DomainName, name: string, run: string): OwnCaller | undefined {
    return this.#callers.get(callerKey(domain, name, run));
  }

  line(domain: DomainName, name: string): LineState | undefined {
    return this.#lines.get(lineKey(domain, name));
  }

  entered(own: OwnCaller): void {
    this.#callers.set(callerKey(own.domain, own.name, own.caller.run), own);
  }

  /** The desk says how a line is. */
  told(line: LineState): void {
    const { domain, name, desk, change } = line;
    const known = this.#lines.get(lineKey(domain, name));
    // An answer and a later change may come in one go.
    if (known?.desk === desk && known.change > change) return;
    this.#lines.set(lineKey(domain, name), line);
    for (const own of this.#of(domain, name)) own.caller.moved();
  }

  /** @returns false for a caller who is in no line of this name */
  left(domain: DomainName, name: string, run: string): boolean {
    const own = this.caller(domain, name, run);
    if (own === undefined) return false;
    this.#callers.delete(callerKey(domain, name, run));
    const line = this.line(domain, name);
    if (line === undefined || this.#of(domain, name).length === 0) this.#lines.delete(lineKey(domain, name));
    else this.#lines.set(lineKey(domain, name), { ...line, order: line.order.filter((each) => each !== run) });
    own.caller.left?.();
    return true;
  }

  seeks(domain: DomainName, seeker: Seeker): ToldSeeker {
    this.#seeks += 1;
    const { run, queue, priority, skills, agents } = seeker;
    const id = `${run} ${this.#seeks}`;
    const since = this.caller(domain, queue, run)?.since ?? seeker.since;
    const told = { id, domain, run, queue, priority, skills, agents, since };
    this.#seekers.set(id, { told, seeker });
    return told;
  }

  /** @returns false when it does not wait any more */
  seeksNoMore(id: string): boolean {
    return this.#seekers.delete(id);
  }

  /** @returns false when the caller does not wait any more */
  offered(id: string, hold: Hold): boolean {
    const found = this.#seekers.get(id);
    if (found === undefined) return false;
    this.#seekers.delete(id);
    const { domain, number } = hold;
    this.#holds.set(holdKey(domain, number), { ...hold, queue: found.told.queue, talk: undefined });
    found.seeker.offered(number);
    return true;
  }

  /** @returns false when another run has the agent */
  talks(domain: DomainName, number: string, run: string, talk: () => AgentTalk | undefined): boolean {
    const hold = this.#holds.get(holdKey(domain, number));
    if (hold?.run !== run) return false;
    hold.talk = talk;
    return true;
  }

  talkOf(domain: DomainName, number: string): AgentTalk | undefined {
    return this.#holds.get(holdKey(domain, number))?.talk?.();
  }

  /** @returns false when another run has the agent */
  released(hold: Hold, pauseMs: number): boolean {
    const key = holdKey(hold.domain, hold.number);
    if (this.#holds.get(key)?.run !== hold.run) return false;
    this.#holds.delete(key);
    if (pauseMs > 0) this.#pauses.set(key, { ...hold, until: Date.now() + pauseMs });
    return true;
  }

  get state(): NodeState {
    const now = Date.now();
    for (const [key, { until }] of this.#pauses) if (until <= now) this.#pauses.delete(key);
    return {
      callers: [...this.#callers.values()].map(({ domain, name, caller: { run, priority = 0 }, since }) => ({
        domain,
        name,
        run,
        priority,
        since,
      })),
      seekers: [...this.#seekers.values()].map((each) => each.told),
      holds: [...this.#holds.values()].map(({ talk, ...hold }) => ({ ...hold, talks: talk !== undefined })),
      pauses: [...this.#pauses.values()].map(({ until, ...hold }) => ({ ...hold, milliseconds: until - now })),
    };
  }

  #of(domain: string, name: string): readonly OwnCaller[] {
    return [...this.#callers.values()].filter((own) => own.domain === asDomainName(domain) && own.name === name);
  }
}

function lineKey(domain: string, name: string): string {
  return `${domain} ${name}`;
}

function callerKey(domain: string, name: string, run: string): string {
  return `${domain} ${name} ${run}`;
}

function holdKey(domain: string, number: string): string {
  return `${domain} ${number}`;
}
