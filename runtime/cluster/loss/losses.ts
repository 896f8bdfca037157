/** What dead nodes leave behind: one living node takes care of it. */
import type { CallIndex, SharedCall } from '../../callstore/index.ts';
import type { ClaimedStarts } from '../claimed-starts.ts';
import type { Log } from '../log.ts';
import type { Membership } from '../members/membership.ts';
import type { Member } from '../members/member.ts';
import type { Nodes } from '../nodes.ts';
import type { Kept, LiveIndex } from './live-index.ts';
import type { Witness } from './witness.ts';

/** Milliseconds for which nobody else takes care of a dead node: longer than a machine is away. */
const KEPT_MS = 30 * 86_400_000;
/** Milliseconds between two attempts. */
const RETRY_MS = 1000;
/** Milliseconds without the own heartbeat after which a node says by the database that it lives: before others count it as dead. */
const CUT_OFF_MS = 1200;
const LOOK_MS = 400;
/** Milliseconds after which a dead node is not expected back: what it kept is removed. */
const FORGET_MS = 60_000;

const TAKEN = 'loss.taken';

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
  #telling = false;
  #closed = false;

  constructor(options: LossOptions) {
    this.#options = options;
    const { members, nodes, live } = options;
    nodes.serve(TAKEN, (asked) => (asked as readonly string[]).filter((id) => live(id) || this.#taken.has(id)));
    members.listen({
      gone: (member, hasLeft) => {
        void (hasLeft ? this.#subscriptions(member.id) : this.settle(member));
      },
      joined: ({ id }) => void this.#returned(id),
    });
    this.#timer = setInterval(() => void this.#tellOfLife(), LOOK_MS).unref();
  }

  /**
   * Takes care of a process that is gone, unless another node does.
   * @returns true when this node did
   */
  async settle({ id, node }: Pick<Member, 'id' | 'node'>): Promise<boolean> {
    const { log, index, claims, witness } = this.#options;
    let isTold = false;
    const claimed = await this.#patiently(id, async () => {
      if (await witness.isAlive(id)) {
        if (!isTold) log.info({ node }, 'a node of the cluster has lost NATS and lives: it keeps its calls');
        isTold = true;
        return undefined;
      }
      return await claims.claim(claimOf(id), KEPT_MS);
    });
    if (claimed !== true) return false;
    this.#mine.add(id);
    const kept = await this.#patiently(id, () => index.read(id));
    if (kept === undefined) return true;
    log.info(
      { node, calls: kept.call.length, ringing: kept.ringing.length, waiting: kept.waiting.length },
      'this node takes care of the calls of a dead node',
    );
    await this.#take(id, kept);
    await this.#subscriptions(id);
    setTimeout(() => {
      if (this.#mine.has(id)) void index.clear(id);
    }, FORGET_MS).unref();
    return true;
  }

  /** See `Cluster.settleEarlier`. */
  async settleEarlier(earlier: Pick<Member, 'id' | 'node'>, calls: readonly string[]): Promise<readonly string[]> {
    const { nodes, live, members } = this.#options;
    // Its last heartbeat may be younger than this process.
    while (!this.#closed && members.others.some(({ id }) => id === earlier.id)) await pause();
    // Another one may just be at it.
    if (!(await this.settle(earlier))) await pause();
    if (calls.length === 0) return [];
    const others = await this.#patiently(earlier.id, () => nodes.askAll<readonly string[]>(TAKEN, calls));
    const taken = new Set(others?.flatMap(({ answer }) => answer));
    return calls.filter((id) => !taken.has(id) && !live(id) && !this.#taken.has(id));
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
  }

  async #take(id: string, kept: Kept): Promise<void> {
    const { heir, log } = this.#options;
    heir.invites(kept.ringing, kept.waiting);
    const calls = kept.call as readonly SharedCall[];
    for (const { facts } of calls) this.#taken.add(facts.id);
    await Promise.all(
      calls.map((call) =>
        heir.call(id, call).catch((err: unknown) => {
          log.error({ err, dialogid: call.entry.view.dialogid }, 'a call of a dead node was not ended');
        }),
      ),
    );
  }

  async #subscriptions(id: string): Promise<void> {
    await this.#patiently(id, async () => {
      await this.#options.heir.subscriptions(id);
      return true;
    });
  }

  async #returned(id: string): Promise<void> {
    if (!this.#mine.delete(id)) return;
    this.#options.heir.returned(id);
    await this.#patiently(id, () => this.#options.claims.release(claimOf(id)));
  }

  /**
   * Tries until there is a result, or the node is back.
   * @returns undefined when it is back, or this node ends
   */
  async #patiently<Result>(id: string, attempt: () => Promise<Result | undefined>): Promise<Result | undefined> {
    const { members, log } = this.#options;
    for (let told = false; !this.#closed; ) {
      if (members.others.some((member) => member.id === id)) return undefined;
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
