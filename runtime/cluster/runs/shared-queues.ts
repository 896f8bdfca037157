/** The queues and agents of the cluster, as the runs of one node use them. */
import { setTimeout as delay } from 'node:timers/promises';
import { asDomainName, type DomainName } from '../../domain-name/index.ts';
import type { AgentDesk, Agents, AgentTalk, AgentView, MemoryQueues, Queues, QueueView } from '../../runs/index.ts';
import { told, type ToldError, toldError } from '../calls/operation-errors.ts';
import { ClusterAwayError, NodeGoneError } from '../errors.ts';
import type { NatsLink } from '../link/nats-link.ts';
import type { Log } from '../log.ts';
import type { Membership } from '../members/membership.ts';
import { type Nodes, unreachable } from '../nodes.ts';
import { DeskOwner } from './desk-owner.ts';
import { OwnCallers } from './own-callers.ts';
import { type Hold, type LineState, QueueDesk } from './queue-desk.ts';

const DESK = 'queues.desk';
const LINE = 'queues.line';
const OFFER = 'queues.offer';
const BUSY = 'queues.busy';
const TALK = 'queues.talk';
/** Milliseconds for an answer of the desk, and of a node that is told something. */
const ASK_MS = 3000;
/** Milliseconds before something is tried again that the desk did not take. */
const RETRY_MS = 300;

type Method = Exclude<keyof QueueDesk, 'drop' | 'dropOthers'>;
type Asked<Name extends Method> = Parameters<QueueDesk[Name]>[1];
type Answer<Name extends Method> = Awaited<ReturnType<QueueDesk[Name]>>;

/** A channel of a media server. */
export type TalkMedia = NonNullable<AgentTalk['media']>;

export interface QueueNeeds {
  /** Used while this node keeps the queues, or works alone. */
  readonly queues: MemoryQueues;
  readonly agents: AgentDesk;
  /** Reads the settings of agents anew, which other nodes may have changed. */
  readonly reload: () => Promise<void>;
  readonly isBusy: (domain: DomainName, number: string) => boolean;
  /** The sound of a party of a live call of this node. */
  readonly media: (talk: AgentTalk) => TalkMedia | undefined;
}

export interface QueuePlace {
  readonly link: NatsLink;
  readonly members: Membership;
  readonly nodes: Nodes;
  /** Of this process. */
  readonly id: string;
  readonly log: Log;
}

/**
 * One node keeps the queues and agents of all; the others send it what their callers do, and know the lines that these are
 * in. Each node also knows its own callers and agents, and tells them to the next node that keeps the queues: itself, while
 * NATS is away.
 */
export class SharedQueues {
  readonly #needs: QueueNeeds;
  readonly #place: QueuePlace;
  readonly #desk: QueueDesk;
  readonly #owner: DeskOwner;
  readonly #own = new OwnCallers();
  #syncs = 0;
  #retry: NodeJS.Timeout | undefined;

  constructor(needs: QueueNeeds, place: QueuePlace) {
    this.#needs = needs;
    this.#place = place;
    const { link, members, nodes, id, log } = place;
    this.#desk = new QueueDesk({
      id,
      queues: needs.queues,
      agents: needs.agents,
      busyElsewhere: (domain, numbers) => this.busyElsewhere(domain, numbers),
      now: Date.now,
      tellLine: (node, line) => {
        if (node === id) return this.#own.told(line);
        // A node that is gone, or asks anew, needs no news.
        nodes.ask(node, LINE, line, ASK_MS).catch((err: unknown) => log.debug({ err }, 'a line was not told'));
      },
      offer: async (node, seeker, hold) => {
        if (node === id) return this.#own.offered(seeker, hold);
        return (await nodes.ask(node, OFFER, { seeker, hold }, 10 * ASK_MS).catch(() => false)) === true;
      },
    });
    this.#owner = new DeskOwner(link, members, id, log, () => this.#moved());
    members.listen({ gone: (member) => this.#desk.drop(member.id) });
    nodes.serve(DESK, (asked) => this.#serve(asked as { node: string; method: Method; parameters: never }));
    nodes.serve(LINE, (line) => this.#own.told(line as LineState));
    nodes.serve(OFFER, (asked) => {
      const { seeker, hold } = asked as { readonly seeker: string; readonly hold: Hold };
      return this.#own.offered(seeker, hold);
    });
    nodes.serve(BUSY, (asked) => {
      const { domain, numbers } = asked as { readonly domain: string; readonly numbers: readonly string[] };
      return numbers.filter((number) => needs.isBusy(asDomainName(domain), number));
    });
    nodes.serve(TALK, (asked) => {
      const { domain, number } = asked as Omit<Hold, 'run'>;
      const talk = this.#own.talkOf(asDomainName(domain), number);
      const media = talk && needs.media(talk);
      return talk && media ? { dialogid: talk.dialogid, side: talk.side, media } : null;
    });
  }

  /** Of these agents, those with a call at another node. A node that does not answer has none. */
  async busyElsewhere(domain: DomainName, numbers: readonly string[]): Promise<ReadonlySet<string>> {
    if (this.#owner.current === undefined) return new Set();
    const answers = await this.#place.nodes
      .askAll<readonly string[]>(BUSY, { domain, numbers })
      .catch((): readonly { readonly answer: readonly string[] }[] => []);
    return new Set(answers.flatMap(({ answer }) => answer));
  }

  /** Lets another node keep the queues. */
  async leave(): Promise<void> {
    clearTimeout(this.#retry);
    await this.#owner.leave();
  }

  readonly queues: Queues = {
    enter: async (domain, name, caller) => {
      const known = this.#own.caller(domain, name, caller.run);
      if (known !== undefined) {
        known.caller.moved = caller.moved;
        return known.caller;
      }
      const { run, priority = 0 } = caller;
      const before = this.#syncs;
      const entered = await this.#patiently('enter', { domain, name, run, priority });
      if (entered === null) return undefined;
      this.#own.entered({ domain, name, caller, since: entered.since });
      this.#own.told(entered.line);
      // The desk was told of all callers meanwhile, without this one.
      if (this.#syncs !== before) this.#sync();
      return caller;
    },
    position: (domain, name, run) => (this.#own.line(domain, name)?.order.indexOf(run) ?? -1) + 1,
    length: (domain, name) => this.#own.line(domain, name)?.order.length ?? 0,
    leave: (domain, name, run) => {
      if (this.#own.left(domain, name, run)) this.#tell('leave', { domain, name, run });
    },
    list: (domain): Promise<readonly QueueView[]> => this.#ask('list', { domain }),
    served: (domain, name, milliseconds) => this.#tell('served', { domain, name, milliseconds }),
    servingTime: (domain, name) => this.#own.line(domain, name)?.serving,
  };

  readonly agents: Agents = {
    get: async (domain, number) => (await this.#ask('agent', { domain, number })) ?? undefined,
    list: (domain): Promise<readonly AgentView[]> => this.#ask('agents', { domain }),
    set: (domain, number, change) => this.#patiently('set', { domain, number, change }),
    // They are, when the desk has answered.
    kept: async () => undefined,
    remove: (domain, number) => this.#patiently('remove', { domain, number }),
    staffed: (domain, { queue, skills, agents }) => this.#patiently('staffed', { domain, queue, skills, agents }),
    seek: (domain, seeker) => {
      const sought = this.#own.seeks(domain, seeker);
      this.#tell('seek', sought);
      return () => {
        if (this.#own.seeksNoMore(sought.id)) this.#tell('unseek', { id: sought.id });
      };
    },
    talks: (domain, number, run, talk) => {
      if (this.#own.talks(domain, number, run, talk)) this.#tell('talks', { domain, number, run });
    },
    release: (domain, number, run, pauseMs) => {
      const hold = { domain, number, run };
      if (this.#own.released(hold, pauseMs)) this.#tell('release', { ...hold, pauseMs });
    },
    talkOf: async (domain, number) => {
      const own = this.#own.talkOf(domain, number);
      if (own !== undefined || this.#owner.current === undefined) return own;
      const answers = await this.#place.nodes.askAll<Omit<AgentTalk, 'ended'> | null>(TALK, { domain, number });
      const talk = answers.find(({ answer }) => answer !== null)?.answer ?? undefined;
      // The end of its channel ends the supervision.
      return talk && { ...talk, ended: new AbortController().signal };
    },
  };

  /** The node that keeps the queues; undefined: this one. */
  get #other(): string | undefined {
    const { current } = this.#owner;
    return current === this.#place.id ? undefined : current;
  }

  async #do<Name extends Method>(method: Name, parameters: Asked<Name>): Promise<Answer<Name>> {
    const { nodes, id } = this.#place;
    const other = this.#other;
    const asked = { node: id, method, parameters };
    if (other === undefined) return (await this.#perform(asked)) as Answer<Name>;
    const done = (await nodes.ask(other, DESK, asked, ASK_MS)) as { answer: Answer<Name>; error?: ToldError };
    if (done.error !== undefined) throw toldError(done.error);
    return done.answer;
  }

  #perform({ node, method, parameters }: { node: string; method: Method; parameters: unknown }): unknown {
    const desk = this.#desk as unknown as Record<Method, (from: string, asked: unknown) => unknown>;
    return desk[method](node, parameters);
  }

  async #serve(asked: { node: string; method: Method; parameters: never }): Promise<object> {
    try {
      // The asking node does not know yet that this one does not keep the queues any more.
      if (this.#owner.current !== this.#place.id) throw unreachable(new NodeGoneError(this.#place.id));
      // An agent may have been changed while this node did not keep the queues, or the other one was alone.
      if (asked.method === 'sync') void this.#reload();
      return { answer: (await this.#perform(asked)) ?? null };
    } catch (error) {
      return { error: told(error) };
    }
  }

  /** For what only all nodes together know. @throws OperationError `node_unreachable` */
  async #ask<Name extends Method>(method: Name, parameters: Asked<Name>): Promise<Answer<Name>> {
    if (this.#owner.current === undefined) throw unreachable(new ClusterAwayError());
    try {
      return await this.#do(method, parameters);
    } catch (error) {
      throw unreachable(error);
    }
  }

  /** Until the desk, or its successor, has done it. */
  async #patiently<Name extends Method>(method: Name, parameters: Asked<Name>): Promise<Answer<Name>> {
    for (;;) {
      try {
        return await this.#do(method, parameters);
      } catch (error) {
        if (!isUnreachable(error)) throw error;
      }
      await delay(RETRY_MS);
    }
  }

  /** What the desk does not take is told again with all that this node has. */
  #tell<Name extends Method>(method: Name, parameters: Asked<Name>): void {
    this.#do(method, parameters).catch((err: unknown) => {
      if (!isUnreachable(err)) this.#place.log.error({ err, method }, 'the queues of the cluster refused a change');
      this.#retry ??= setTimeout(() => this.#sync(), RETRY_MS).unref();
    });
  }

  /** Another node keeps the queues now. */
  #moved(): void {
    const { current } = this.#owner;
    const { id } = this.#place;
    // What other nodes told this one, they tell the other one.
    if (current !== id) this.#desk.dropOthers(current === undefined ? id : undefined);
    if (this.#other === undefined) void this.#reload().then(() => this.#sync());
    else this.#sync();
  }

  #sync(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#syncs += 1;
    this.#tell('sync', this.#own.state);
  }

  async #reload(): Promise<void> {
    try {
      await this.#needs.reload();
    } catch (err) {
      this.#place.log.warn({ err }, 'the agents of queues were not read from the database');
    }
  }
}

function isUnreachable(error: unknown): boolean {
  return error instanceof NodeGoneError || (error as { readonly code?: string }).code === 'node_unreachable';
}
