/** What dead nodes leave behind: one living node takes care of it. */
import type { CallIndex, SharedCall } from '../../callstore/index.ts';
import type { ClaimedStarts } from '../claimed-starts.ts';
import type { Log } from '../log.ts';
import type { Membership } from '../members/membership.ts';
import type { Member } from '../members/member.ts';
import type { Nodes } from '../nodes.ts';
import type { Kept, LiveIndex } from './live-index.ts';
import type { Settlements } from './settlements.ts';
import type { Witness } from './witness.ts';

/** Milliseconds for which nobody else takes care of a dead node: longer than a machine is away. */
const KEPT_MS = 30 * 86_400_000;
/** Milliseconds between two attempts. */
const RETRY_MS = 1000;
/** Milliseconds without the own heartbeat after which a node says by the database that it lives: before others count it as dead. */
const CUT_OFF_MS = 1200;
const LOOK_MS = 400;
/** Milliseconds for which the node that takes care of a dead one is waited for: it may have died, too. */
const SETTLED_MS = 20_000;
/** Milliseconds after which a dead node is not expected back: what it kept is removed. */
const FORGET_MS = 60_000;

const TAKEN = 'loss.taken';
/** Which of these calls the asked node has. */
const LIVE = 'loss.live';
/** The asking node has taken care of a dead one. */
const SETTLED = 'loss.settled';

/** Takes what a dead node left. */
export interface Heir {
  /** Ends the call, or goes on with it. @param node id of the dead process */
  call(node: string, call: SharedCall): Promise<void>;
  /** INVITEs without a final answer: to phones, and of callers. */
  invites(ringing: readonly unknown[], waiting: readonly unknown[]): void;
  /** Goes on with the subscriptions of phones at a process that died or has left, unless another node does. */
  subscriptions(node: string): Promise<void>;
  /** The node was not dead. */
  returned(node: string): void;
}

export interface LossOptions {
  /** Id of this process. */
  readonly id: string;
  readonly members: Pick<Membership, 'others' | 'self' | 'silenceMs' | 'listen'>;
  readonly nodes: Pick<Nodes, 'serve' | 'askAll'>;
  readonly settlements: Settlements;
  readonly index: Pick<LiveIndex, 'read' | 'clear'>;
  /** Whether a call lives at this node. */
  readonly live: (inviteid: string) => boolean;
  readonly claims: Pick<ClaimedStarts, 'claim' | 'release'>;
  readonly witness: Pick<Witness, 'tell' | 'isAlive'>;
  readonly heir: Heir;
  readonly log: Log;
}

/**
 * Takes care of what dead nodes leave. A node counts as dead without heartbeats, unless it tells by the database that it has only lost
 * NATS. The first living node that writes the dead one's id into the database does it.
 */
export class Losses {
  readonly #options: LossOptions;
  readonly #timer: NodeJS.Timeout;
  /** Dead nodes that this one takes care of. */
  readonly #mine = new Set<string>();
  /** Ids of the calls that this node took care of. */
  readonly #taken = new Set<string>();
  /** Dead nodes that another one takes care of, with that node once it has. */
  readonly #elsewhere = new Map<string, PromiseWithResolvers<string | undefined>>();
  #telling = false;
  #closed = false;

  constructor(options: LossOptions) {
    this.#options = options;
    const { members, nodes, live, settlements } = options;
    nodes.serve(TAKEN, (asked) => (asked as readonly string[]).filter((id) => live(id) || this.#taken.has(id)));
    nodes.serve(LIVE, (asked) => (asked as readonly string[]).filter(live));
    nodes.serve(SETTLED, (asked) => {
      const { id, by } = asked as { readonly id: string; readonly by: string };
      if (id === options.id) return;
      this.#settledBy(id).resolve(by);
      // This node never knew it, or waits for it already.
      if (!members.others.some((member) => member.id === id)) settlements.settle(id, by);
    });
    members.listen({
      gone: (member, hasLeft) => void (hasLeft ? this.#left(member.id) : this.#dead(member)),
      joined: ({ id }) => void this.#returned(id),
    });
    this.#timer = setInterval(() => void this.#tellOfLife(), LOOK_MS).unref();
  }

  /**
   * Takes care of a process that is gone, unless another node does.
   * @returns which node does; undefined when the process is back
   */
  async settle({ id, node }: Pick<Member, 'id' | 'node'>): Promise<'here' | 'elsewhere' | undefined> {
    const { log, index, claims, witness, settlements, nodes, id: self } = this.#options;
    let isTold = false;
    const claimed = await this.#patiently(id, async () => {
      if (await witness.isAlive(id)) {
        if (!isTold) log.info({ node }, 'a node of the cluster has lost NATS and lives: it keeps its calls');
        isTold = true;
        return undefined;
      }
      return await claims.claim(claimOf(id), KEPT_MS);
    });
    if (claimed !== true) return claimed === false ? 'elsewhere' : undefined;
    if (this.#isBack(id)) {
      await this.#release(id);
      return undefined;
    }
    this.#mine.add(id);
    const kept = await this.#patiently(id, () => index.read(id));
    if (kept === undefined) return undefined;
    log.info(
      { node, calls: kept.call.length, ringing: kept.ringing.length, waiting: kept.waiting.length },
      'this node takes care of the calls of a dead node',
    );
    await this.#take(id, kept);
    if (!this.#mine.has(id)) return undefined;
    settlements.settle(id, self);
    nodes
      .askAll(SETTLED, { id, by: self })
      .catch((err: unknown) =>
        log.warn({ err, node }, 'not every node knows yet that the calls of a dead node are taken care of'),
      );
    await this.#subscriptions(id);
    setTimeout(() => {
      if (this.#mine.has(id)) void index.clear(id);
    }, FORGET_MS).unref();
    return 'here';
  }

  /** See `Cluster.settleEarlier`. */
  async settleEarlier(earlier: Pick<Member, 'id' | 'node'>, calls: readonly string[]): Promise<readonly string[]> {
    const { nodes, live } = this.#options;
    // Its last heartbeat may be younger than this process.
    while (!this.#closed && this.#isBack(earlier.id)) await pause();
    // Another one may just be at it.
    if ((await this.settle(earlier)) === 'elsewhere') await pause();
    if (calls.length === 0) return [];
    const others = await this.#patiently(earlier.id, () => nodes.askAll<readonly string[]>(TAKEN, calls));
    const taken = new Set(others?.flatMap(({ answer }) => answer));
    return calls.filter((id) => !taken.has(id) && !live(id) && !this.#taken.has(id));
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
  }

  async #dead(member: Member): Promise<void> {
    if ((await this.settle(member)) !== 'elsewhere') return;
    const { id } = member;
    const timer = setTimeout(() => this.#settledBy(id).resolve(undefined), SETTLED_MS).unref();
    const by = await this.#settledBy(id).promise;
    clearTimeout(timer);
    if (!this.#isBack(id)) this.#options.settlements.settle(id, by);
  }

  #settledBy(id: string): PromiseWithResolvers<string | undefined> {
    const known = this.#elsewhere.get(id) ?? Promise.withResolvers<string | undefined>();
    this.#elsewhere.set(id, known);
    return known;
  }

  async #left(id: string): Promise<void> {
    this.#options.settlements.settle(id, undefined);
    await this.#subscriptions(id);
  }

  #isBack(id: string): boolean {
    return this.#options.members.others.some((member) => member.id === id);
  }

  async #take(id: string, kept: Kept): Promise<void> {
    const { heir, log } = this.#options;
    heir.invites(kept.ringing, kept.waiting);
    const calls = await this.#withoutMoved(id, kept.call as readonly SharedCall[]);
    for (const { facts } of calls) this.#taken.add(facts.id);
    await Promise.all(
      calls.map((call) =>
        heir.call(id, call).catch((err: unknown) => {
          log.error({ err, dialogid: call.entry.view.dialogid }, 'a call of a dead node was not ended');
        }),
      ),
    );
  }

  /** Calls that have gone to other nodes stay there. */
  async #withoutMoved(id: string, calls: readonly SharedCall[]): Promise<readonly SharedCall[]> {
    if (calls.length === 0) return calls;
    const { nodes, live } = this.#options;
    const asked = calls.map(({ facts }) => facts.id);
    const answers = await this.#patiently(id, () => nodes.askAll<readonly string[]>(LIVE, asked));
    const moved = new Set(answers?.flatMap(({ answer }) => answer));
    return answers === undefined ? [] : calls.filter(({ facts }) => !moved.has(facts.id) && !live(facts.id));
  }

  async #subscriptions(id: string): Promise<void> {
    await this.#patiently(id, async () => {
      await this.#options.heir.subscriptions(id);
      return true;
    });
  }

  async #returned(id: string): Promise<void> {
    this.#elsewhere.delete(id);
    this.#options.settlements.returned(id);
    if (!this.#mine.delete(id)) return;
    this.#options.heir.returned(id);
    await this.#release(id);
  }

  /** The process can be claimed when it dies again. */
  async #release(id: string): Promise<void> {
    const { claims, log } = this.#options;
    while (!this.#closed) {
      try {
        await claims.release(claimOf(id));
        return;
      } catch (err) {
        log.warn({ err, node: id }, 'a node that was not dead cannot be given back yet');
        await pause();
      }
    }
  }

  /**
   * Tries until there is a result, or the node is back.
   * @returns undefined when it is back, or this node ends
   */
  async #patiently<Result>(id: string, attempt: () => Promise<Result | undefined>): Promise<Result | undefined> {
    const { log } = this.#options;
    for (let told = false; !this.#closed; ) {
      if (this.#isBack(id)) return undefined;
      try {
        const result = await attempt();
        if (result !== undefined) return result;
      } catch (err) {
        if (!told) log.warn({ err, node: id }, 'the calls of a dead node cannot be taken care of yet');
        told = true;
      }
      await pause();
    }
    return undefined;
  }

  async #tellOfLife(): Promise<void> {
    const { members, id, witness } = this.#options;
    if (this.#telling || this.#closed || members.self === undefined || members.silenceMs < CUT_OFF_MS) return;
    this.#telling = true;
    await witness.tell(id).catch(() => undefined);
    this.#telling = false;
  }
}

/** The index as the switch writes it. */
export function callIndex(index: LiveIndex): CallIndex {
  return {
    changed: (dialogid, call) => index.set('call', dialogid, call),
    over: (dialogid) => index.remove('call', dialogid),
  };
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
}

function claimOf(id: string): string {
  return `lost ${id}`;
}
