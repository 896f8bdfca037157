/** Who is in the cluster. */
import type { Log } from '../log.ts';
import { Bucket } from '../link/buckets.ts';
import type { NatsLink } from '../link/nats-link.ts';
import { isMember, type Member } from './member.ts';

/** Milliseconds between two heartbeats, and of silence after which a node is dead. Together below three seconds. */
const HEARTBEAT_MS = 600;
const DEAD_MS = 2200;
const CHECK_MS = 200;
const LEFT = 'left';
const BUCKET = { name: 'ringmaster_members', ttlMs: 10_000, storage: 'memory' } as const;

interface Known {
  member: Member;
  /** When its last heartbeat came, by the clock of this process. */
  heard: number;
  readonly gone: AbortController;
}

export interface MembershipListener {
  joined?(member: Member): void;
  /** @param hasLeft it said so; otherwise its heartbeats ended */
  gone?(member: Member, hasLeft: boolean): void;
}

/**
 * The nodes of the cluster: each writes itself into a bucket, again and again, and follows what the others write. Each node
 * judges by its own clock, so that clocks may differ.
 */
export class Membership {
  readonly #id: string;
  readonly #log: Log;
  readonly #bucket: Bucket;
  readonly #known = new Map<string, Known>();
  readonly #listeners: MembershipListener[] = [];
  #self: (() => Member) | undefined;
  /** When this node last saw its own heartbeat. */
  #echo = Number.NEGATIVE_INFINITY;
  readonly #read = Promise.withResolvers<void>();
  readonly #echoed = Promise.withResolvers<void>();
  #checked = performance.now();
  readonly #timers: NodeJS.Timeout[] = [];
  #beating = false;

  /** @param id of this process */
  constructor(link: NatsLink, id: string, log: Log) {
    this.#id = id;
    this.#log = log;
    const entries = {
      entry: (key: string, value: Uint8Array | undefined) => this.#heard(key, value),
      complete: () => this.#read.resolve(),
    };
    this.#bucket = new Bucket(link, BUCKET, entries, log);
    this.#timers.push(setInterval(() => this.#check(), CHECK_MS).unref());
    link.onDown(() => {
      this.#echo = Number.NEGATIVE_INFINITY;
    });
    // Their next heartbeats are yet to come.
    link.onUp(() => {
      for (const known of this.#known.values()) known.heard = performance.now();
    });
  }

  /** Settles when this node first knows the others; never while NATS is away. */
  get read(): Promise<void> {
    return this.#read.promise;
  }

  /** Settles when this node first sees its own heartbeat. */
  get echoed(): Promise<void> {
    return this.#echoed.promise;
  }

  /** Begins to tell the others of this node. @param self called at each heartbeat */
  join(self: () => Member): void {
    this.#self = self;
    const beat = (): void => void this.#beat();
    this.#timers.push(setInterval(beat, HEARTBEAT_MS).unref());
    beat();
  }

  /** True while this node sees the heartbeats of the cluster, its own among them. */
  get isConnected(): boolean {
    const { silenceMs } = this;
    // After a pause of this process, such as for a long list, its own heartbeat waits to be read, too.
    return silenceMs < DEAD_MS || (this.#isPaused && silenceMs !== Number.POSITIVE_INFINITY);
  }

  /** True when this process has just been standing still. */
  get #isPaused(): boolean {
    return performance.now() - this.#checked > 3 * CHECK_MS;
  }

  /** Milliseconds since this node last saw its own heartbeat. */
  get silenceMs(): number {
    return performance.now() - this.#echo;
  }

  /** The other nodes that live. */
  get others(): readonly Member[] {
    return [...this.#known.values()].map(({ member }) => member);
  }

  /** The other nodes that accept calls and have this role, those with the fewest calls first. */
  accepting(role: string): readonly Member[] {
    return this.others
      .filter(({ state, roles }) => state === 'accepting' && roles.includes(role))
      .toSorted((a, b) => a.load.calls - b.load.calls);
  }

  /** This node as it tells itself; undefined before `join`. */
  get self(): Member | undefined {
    return this.#self?.();
  }

  /** Aborted when the process is gone, at once for an unknown one. */
  goneSignal(id: string): AbortSignal {
    return this.#known.get(id)?.gone.signal ?? AbortSignal.abort();
  }

  listen(listener: MembershipListener): void {
    this.#listeners.push(listener);
  }

  /** Another node tells itself. */
  meet(member: Member): void {
    const { id } = member;
    const known = this.#known.get(id);
    if (known !== undefined) {
      known.member = member;
      known.heard = performance.now();
      return;
    }
    this.#known.set(id, { member, heard: performance.now(), gone: new AbortController() });
    this.#log.info({ node: member.node, site: member.site, http: member.http }, 'a node of the cluster is here');
    for (const listener of this.#listeners) listener.joined?.(member);
  }

  /** Nobody listens for it at NATS: it is dead until its next heartbeat. */
  unreachable(id: string): void {
    this.#drop(id, 'does not listen at NATS');
  }

  /** Tells the others that this node leaves. */
  async leave(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#self = undefined;
    await this.#bucket.kv?.delete(this.#id).catch(() => undefined);
    this.#bucket.close();
  }

  async #beat(): Promise<void> {
    const self = this.#self?.();
    const { kv } = this.#bucket;
    if (self === undefined || kv === undefined || this.#beating) return;
    this.#beating = true;
    try {
      await kv.put(this.#id, JSON.stringify(self), { timeout: DEAD_MS });
    } catch (err) {
      this.#log.debug({ err }, 'a heartbeat was not stored');
    } finally {
      this.#beating = false;
    }
    // It has left meanwhile.
    if (this.#self === undefined) await kv.delete(this.#id).catch(() => undefined);
  }

  #heard(key: string, value: Uint8Array | undefined): void {
    if (key === this.#id) {
      if (value === undefined) return;
      this.#echo = performance.now();
      this.#echoed.resolve();
      return;
    }
    if (value === undefined) return this.#drop(key, LEFT);
    const member = parsed(value);
    if (member?.id === key) this.meet(member);
  }

  #check(): void {
    const now = performance.now();
    // After a pause of this process, heartbeats wait to be read: nobody is judged now.
    const paused = this.#isPaused;
    this.#checked = now;
    if (paused) {
      for (const known of this.#known.values()) known.heard = Math.max(known.heard, now - DEAD_MS / 2);
      if (this.silenceMs !== Number.POSITIVE_INFINITY) this.#echo = Math.max(this.#echo, now - DEAD_MS / 2);
      return;
    }
    // Without its own heartbeats this node is the one that is cut off.
    if (this.#self !== undefined && !this.isConnected) return;
    for (const [id, { heard }] of this.#known) if (now - heard > DEAD_MS) this.#drop(id, 'is silent');
  }

  #drop(id: string, reason: string): void {
    const known = this.#known.get(id);
    if (known === undefined) return;
    this.#known.delete(id);
    const { node, site } = known.member;
    this.#log.warn({ node, site, reason }, 'a node of the cluster is gone');
    known.gone.abort();
    for (const listener of this.#listeners) listener.gone?.(known.member, reason === LEFT);
  }
}

function parsed(value: Uint8Array): Member | undefined {
  try {
    const member: unknown = JSON.parse(Buffer.from(value).toString('utf8'));
    return isMember(member) ? member : undefined;
  } catch {
    return undefined;
  }
}
