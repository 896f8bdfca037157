/** What dead nodes leave behind: one living node takes care of it. */
import type { CallIndex, SharedCall, SharedFarewell } from '../../callstore/index.ts';
import { NodeFailedError } from '../errors.ts';
import type { Log } from '../log.ts';
import { DEAD_MS, type Membership } from '../members/membership.ts';
import type { Member } from '../members/member.ts';
import type { Nodes } from '../nodes.ts';
import type { Claims } from './claims.ts';
import { Lease } from './lease.ts';
import type { Kept, LiveIndex } from './live-index.ts';
import type { Settlements } from './settlements.ts';
import type { Witness } from './witness.ts';

/** Milliseconds between two attempts. */
const RETRY_MS = 1000;
/** Milliseconds without the own heartbeat after which a node says by the database that it lives: before others count it as dead. */
const CUT_OFF_MS = 1200;
const LOOK_MS = 400;
/** Milliseconds for an answer of a node. */
const ANSWER_MS = 2000;
/** Milliseconds after which a node looks into the database for what it was not told: that a dead one is taken care of. */
const SETTLED_MS = 5000;
/** Milliseconds after which a dead node is not expected back: what it kept is removed. */
const FORGET_MS = 60_000;

const TAKEN = 'loss.taken';
/** Which of these calls the asked node has. */
const LIVE = 'loss.live';
/** The asking node has taken care of a dead one. */
const SETTLED = 'loss.settled';
/** The asked node was taken for dead, and what it kept for others may be gone. */
const RETURNED = 'loss.returned';
/** The asking node stood still: which of its calls the asked one has ended. */
const ENDED = 'loss.ended';
/** How often it asks while there is no answer. The ends of its calls are not told meanwhile. */
const ENDED_TRIES = 5;

/** Takes what a dead node left. */
export interface Heir {
  /**
   * Ends the call, or goes on with it.
   * @param node id of the dead process
   * @param isOurs asked before that: false leaves the call to another node
   */
  call(node: string, call: SharedCall, isOurs: () => Promise<boolean>): Promise<void>;
  /** Tells the end of a participant or of a conference. */
  farewell(farewell: SharedFarewell): void;
  /** INVITEs without a final answer: to phones, and of callers. */
  invites(ringing: readonly unknown[], waiting: readonly unknown[]): void;
  /** Goes on with the subscriptions of phones at a process that died or has left, unless another node does. */
  subscriptions(node: string): Promise<void>;
  /** The node was not dead. */
  returned(node: string): void;
  /** Which of these calls of dead nodes this node has ended, and which participants and conferences. */
  ended(ids: readonly string[]): readonly string[];
}

export interface LossOptions {
  /** Id of this process. */
  readonly id: string;
  readonly members: Pick<Membership, 'others' | 'self' | 'silenceMs' | 'stoodStill' | 'meet' | 'listen'>;
  readonly nodes: Pick<Nodes, 'serve' | 'ask' | 'askAll'>;
  readonly settlements: Settlements;
  readonly index: Pick<LiveIndex, 'read' | 'erase' | 'resend' | 'clear' | 'ids'>;
  /** Calls back when the events so far are on their way to the other nodes. */
  readonly whenSent: (callback: () => void) => void;
  /** Whether a call lives at this node. */
  readonly live: (inviteid: string) => boolean;
  readonly claims: Pick<Claims, 'claim' | 'holder' | 'inherit' | 'done' | 'release'>;
  readonly witness: Pick<Witness, 'tell' | 'isAlive'>;
  readonly heir: Heir;
  readonly log: Log;
}

/**
 * Takes care of what dead nodes leave. A node counts as dead without heartbeats, unless it tells by the database that it has only lost
 * NATS. The first living node that writes the dead one's id into the database does it. When that one dies at it, the node that takes care of
 * it goes on: what is done is no longer among what the first one kept.
 */
export class Losses {
  readonly #options: LossOptions;
  readonly #timer: NodeJS.Timeout;
  /** Dead nodes that this one takes care of. */
  readonly #mine = new Set<string>();
  /** Ids of the calls that this node took care of, each with that of the dead process. */
  readonly #taken = new Map<string, string>();
  /** Dead nodes that another one takes care of, with that node once it has. */
  readonly #elsewhere = new Map<string, PromiseWithResolvers<string | undefined>>();
  /** Calls of this node that others have ended, as it stood still, and participants and conferences. */
  readonly #endedElsewhere = new Set<string>();
  /** Settles when the others have said which. */
  #asking: Promise<void> | undefined;
  #telling = false;
  #closed = false;

  constructor(options: LossOptions) {
    this.#options = options;
    const { members, nodes, live, settlements } = options;
    nodes.serve(TAKEN, (asked) => (asked as readonly string[]).filter((id) => live(id) || this.#taken.has(id)));
    nodes.serve(LIVE, (asked) => (asked as readonly string[]).filter(live));
    nodes.serve(RETURNED, () => options.index.resend());
    nodes.serve(ENDED, (asked) => {
      const { member, calls } = asked as { readonly member: Member; readonly calls: readonly string[] };
      // From now on nothing is done to its calls.
      members.meet(member);
      return options.heir.ended(calls);
    });
    nodes.serve(SETTLED, (asked) => {
      const { id, by } = asked as { readonly id: string; readonly by: string };
      if (id === options.id) return;
      this.#settledBy(id).resolve(by);
      // This node never knew it, or waits for it already.
      if (!members.others.some((member) => member.id === id)) settlements.settle(id, by);
    });
    members.listen({
      gone: (member, hasLeft, silentMs) => void (hasLeft ? this.#left(member.id) : this.#dead(member, silentMs)),
      joined: ({ id }) => void this.#returned(id),
      woke: () => void this.#askForEnds(),
    });
    this.#timer = setInterval(() => void this.#tellOfLife(), LOOK_MS).unref();
  }

  /**
   * Takes care of a process that is gone, unless another node does.
   * @returns which node does; undefined when the process is back
   */
  async settle({ id, node }: Pick<Member, 'id' | 'node'>): Promise<'here' | 'elsewhere' | undefined> {
    const { log, claims, witness, members } = this.#options;
    let isTold = false;
    const claimed = await this.#patiently(id, async () => {
      // A node that does not hear itself is the one that is cut off.
      if (members.self !== undefined && members.silenceMs > CUT_OFF_MS) return undefined;
      if (await witness.isAlive(id)) {
        if (!isTold) log.info({ node }, 'a node of the cluster has lost NATS and lives: it keeps its calls');
        isTold = true;
        return undefined;
      }
      return await claims.claim(id);
    });
    if (claimed !== true) return claimed === false ? 'elsewhere' : undefined;
    return await this.#takeCare({ id, node });
  }

  /** The claim of the process is this node's. */
  async #takeCare({ id, node }: Pick<Member, 'id' | 'node'>): Promise<'here' | 'elsewhere' | undefined> {
    const { log, index, claims, settlements, nodes, id: self } = this.#options;
    if (this.#isBack(id)) {
      await this.#release(id);
      return undefined;
    }
    this.#mine.add(id);
    const lease = new Lease(claims, self, id);
    const kept = await this.#patiently(id, () => index.read(id));
    if (kept === undefined) return undefined;
    log.info(
      { node, calls: kept.call.length, ringing: kept.ringing.length, waiting: kept.waiting.length },
      'this node takes care of the calls of a dead node',
    );
    await this.#take(id, kept, () => this.#stillOurs(id, lease));
    if (this.#closed) return undefined;
    if (!this.#mine.has(id)) return this.#isBack(id) ? undefined : 'elsewhere';
    settlements.settle(id, self);
    nodes
      .askAll(SETTLED, { id, by: self })
      .catch((err: unknown) =>
        log.warn({ err, node }, 'not every node knows yet that the calls of a dead node are taken care of'),
      );
    await this.#subscriptions(id);
    // What it was at itself. The calls that it had adopted are here by now.
    const left = (await this.#patiently(id, () => claims.inherit(id))) ?? [];
    for (const each of left) await this.#takeCare({ id: each, node: each });
    await this.#patiently(id, () => claims.done(id));
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
    if ((await this.settle(earlier)) === 'elsewhere') await this.#finished(earlier.id);
    if (calls.length === 0) return [];
    const others = await this.#patiently(earlier.id, () => nodes.askAll<readonly string[]>(TAKEN, calls));
    const taken = new Set(others?.flatMap(({ answer }) => answer));
    return calls.filter((id) => !taken.has(id) && !live(id) && !this.#taken.has(id));
  }

  /** See `CallIndex` and `FarewellIndex`. */
  endedElsewhere(id: string): boolean | Promise<boolean> {
    // What the servers did meanwhile may be read before any timer.
    if (this.#options.members.stoodStill) void this.#askForEnds();
    return this.#asking?.then(() => this.#endedElsewhere.delete(id)) ?? this.#endedElsewhere.delete(id);
  }

  async #askForEnds(): Promise<void> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    await this.#asking;
  }

  async #ask(): Promise<void> {
    const { members, nodes, index, log } = this.#options;
    const [member, calls] = [members.self, [...index.ids('call'), ...index.ids('farewell')]];
    if (member === undefined || calls.length === 0) return;
    for (let tries = ENDED_TRIES; tries > 0 && !this.#closed; tries -= 1) {
      try {
        const answers = await nodes.askAll<readonly string[]>(ENDED, { member, calls });
        for (const id of answers.flatMap(({ answer }) => answer)) this.#endedElsewhere.add(id);
        return;
      } catch (err) {
        // A node of an earlier version does not know the request.
        if (err instanceof NodeFailedError) return;
        if (tries === 1) log.warn({ err }, 'this node stood still: ends of its calls may be told twice');
        else await pause();
      }
    }
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
  }

  async #dead(member: Member, silentMs: number): Promise<void> {
    // One that nobody hears at NATS may have lost its server: until then it says by the database that it lives.
    await pause(DEAD_MS - silentMs);
    if ((await this.settle(member)) !== 'elsewhere') return;
    const { id } = member;
    const notTold = async (): Promise<void> => {
      await this.#finished(id);
      this.#settledBy(id).resolve(undefined);
    };
    const timer = setTimeout(() => void notTold(), SETTLED_MS).unref();
    const by = await this.#settledBy(id).promise;
    clearTimeout(timer);
    if (!this.#isBack(id)) this.#options.settlements.settle(id, by);
  }

  /** Waits until another node has taken care of a process. One that died at it is taken care of first. */
  async #finished(id: string): Promise<void> {
    const { claims, members, id: self } = this.#options;
    await this.#patiently(id, async () => {
      const holder = await claims.holder(id);
      if (holder === undefined) return true;
      // A node that does not hear the others knows nothing of them.
      const knows = members.silenceMs < CUT_OFF_MS;
      if (knows && holder !== self && !this.#isBack(holder)) await this.settle({ id: holder, node: holder });
      return undefined;
    });
  }

  /** Waits for the database, where it has to be asked. */
  async #stillOurs(id: string, lease: Lease): Promise<boolean> {
    const answer = await this.#patiently(id, async () => ({ isOurs: await lease.isOurs() }));
    if (answer?.isOurs === false) this.#mine.delete(id);
    return answer?.isOurs === true && this.#mine.has(id);
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

  async #take(id: string, kept: Kept, isOurs: () => Promise<boolean>): Promise<void> {
    const { heir, index, log, whenSent } = this.#options;
    if (!(await isOurs())) return;
    const [ringing, waiting] = [kept.ringing, kept.waiting].map((entries) => entries.map(({ of }) => of));
    heir.invites(ringing ?? [], waiting ?? []);
    for (const { slot } of [...kept.ringing, ...kept.waiting]) index.erase(id, slot);
    for (const { slot, of } of kept.farewell) {
      heir.farewell(of as SharedFarewell);
      whenSent(() => index.erase(id, slot));
    }
    const calls = await this.#withoutMoved(
      id,
      kept.call.map(({ slot, of }) => ({ slot, call: of as SharedCall })),
    );
    await Promise.all(
      calls.map(async ({ slot, call }) => {
        try {
          await heir.call(id, call, async () => {
            if (!(await isOurs())) return false;
            this.#taken.set(call.facts.id, id);
            return true;
          });
          if (this.#taken.get(call.facts.id) === id) whenSent(() => index.erase(id, slot));
        } catch (err) {
          log.error({ err, dialogid: call.entry.view.dialogid }, 'a call of a dead node was not ended');
        }
      }),
    );
  }

  /** Calls that have gone to other nodes stay there, and those that this node has already taken care of are left out. */
  async #withoutMoved(
    id: string,
    all: readonly { readonly slot: string; readonly call: SharedCall }[],
  ): Promise<typeof all> {
    if (all.length === 0) return all;
    const { nodes, live } = this.#options;
    const asked = all.map(({ call }) => call.facts.id);
    const answers = await this.#patiently(id, () => nodes.askAll<readonly string[]>(LIVE, asked));
    if (answers === undefined) return [];
    const moved = new Set(answers.flatMap(({ answer }) => answer));
    return all.filter(({ call: { facts } }) => !moved.has(facts.id) && !live(facts.id) && !this.#taken.has(facts.id));
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
    for (const [call, from] of this.#taken) if (from === id) this.#taken.delete(call);
    this.#options.heir.returned(id);
    await Promise.all([this.#release(id), this.#restore(id)]);
  }

  /** The process can be claimed when it dies again. */
  async #release(id: string): Promise<void> {
    const { claims, log } = this.#options;
    while (!this.#closed) {
      try {
        await claims.release(id);
        return;
      } catch (err) {
        log.warn({ err, node: id }, 'a node that was not dead cannot be given back yet');
        await pause();
      }
    }
  }

  /** What it keeps was removed where another node took care of it. */
  async #restore(id: string): Promise<void> {
    const { nodes, log } = this.#options;
    while (!this.#closed && this.#isBack(id)) {
      try {
        await nodes.ask(id, RETURNED, {}, ANSWER_MS);
        return;
      } catch (err) {
        // A node of an earlier version does not know the request.
        if (err instanceof NodeFailedError) return;
        log.debug({ err, node: id }, 'a node that was not dead was not told');
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

/** The entries of one kind, as the parts of a node write them. */
export function entriesOf<Value>(
  kind: 'call' | 'farewell',
  index: LiveIndex,
  endedElsewhere: CallIndex['endedElsewhere'],
): { changed(id: string, value: () => Value): void; over(id: string): void } & Pick<CallIndex, 'endedElsewhere'> {
  return {
    changed: (id, value) => index.set(kind, id, value),
    over: (id) => index.remove(kind, id),
    endedElsewhere,
  };
}

async function pause(ms = RETRY_MS): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms).unref());
}
