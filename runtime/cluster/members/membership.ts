/** Who is in the cluster. */
import type { NatsConnection } from '@nats-io/transport-node';
import type { Log } from '../log.ts';
import { Bucket } from '../link/buckets.ts';
import type { NatsLink } from '../link/nats-link.ts';
import { isMember, type Member } from './member.ts';

/** Milliseconds between two heartbeats, and of silence after which a node is dead. Together below three seconds. */
const HEARTBEAT_MS = 600;
export const DEAD_MS = 2200;
/** Milliseconds in which the servers of NATS agree who of them stores, when one is lost. They pass messages on meanwhile. */
const ELECTION_MS = 15_000;
/** Heartbeats that are not stored. */
const PULSE = 'ringmaster.v1.pulse';
const CHECK_MS = 200;
const LEFT = 'left';
const BUCKET = { name: 'ringmaster_members', ttlMs: 10_000 } as const;

interface Known {
  member: Member;
  /** When its last heartbeat came, by the clock of this process. */
  heard: number;
  readonly gone: AbortController;
}

export interface MembershipListener {
  joined?(member: Member): void;
  /**
   * @param hasLeft it said so; otherwise its heartbeats ended
   * @param silentMs since its last heartbeat
   */
  gone?(member: Member, hasLeft: boolean, silentMs: number): void;
  /** This process stood still for so long that others may have taken it for dead. */
  woke?(): void;
}

/**
 * The nodes of the cluster: each writes itself into a bucket, again and again, and follows what the others write. Each node
 * judges by its own clock, so that clocks may differ. Only stored heartbeats show that a node is not the one that is cut off, as most
 * servers of NATS have to agree to them; all are also told without being stored, so that nodes reach each other while NATS chooses who
 * stores.
 */
export class Membership {
  readonly #id: string;
  readonly #log: Log;
  readonly #link: NatsLink;
  readonly #bucket: Bucket;
  readonly #known = new Map<string, Known>();
  /** The last heartbeats of nodes that are gone: NATS tells them again when a bucket is read anew. */
  readonly #lastBeats = new Map<string, { readonly beat: number; readonly at: number }>();
  readonly #listeners: MembershipListener[] = [];
  #self: (() => Member) | undefined;
  /** When this node last saw its own stored heartbeat at this connection. */
  #echo = Number.NEGATIVE_INFINITY;
  /** The same, at any connection. */
  #stored = Number.NEGATIVE_INFINITY;
  /** When this node last heard itself. */
  #pulse = Number.NEGATIVE_INFINITY;
  readonly #read = Promise.withResolvers<void>();
  readonly #echoed = Promise.withResolvers<void>();
  #checked = performance.now();
  readonly #timers: NodeJS.Timeout[] = [];
  #beating = false;
  #beats = 0;

  /** @param id of this process */
  constructor(link: NatsLink, id: string, log: Log) {
    this.#id = id;
    this.#log = log;
    this.#link = link;
    const entries = {
      entry: (key: string, value: Uint8Array | undefined) => this.#heard(key, value),
      complete: () => this.#read.resolve(),
    };
    this.#bucket = new Bucket(link, BUCKET, entries, log);
    this.#timers.push(setInterval(() => this.#check(), CHECK_MS).unref());
    link.onDown(() => {
      this.#echo = this.#pulse = Number.NEGATIVE_INFINITY;
    });
    let followed: NatsConnection | undefined;
    link.onUp(() => {
      // Their next heartbeats are yet to come.
      for (const known of this.#known.values()) known.heard = performance.now();
      const { connection } = link;
      // A connection that came back keeps its subscriptions.
      if (connection !== undefined && connection !== followed) {
        followed = connection;
        connection.subscribe(PULSE, {
          callback: (err, { data }) => {
            if (err === null) this.#felt(data);
          },
        });
      }
      void this.#beat();
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

  /** True while this node reaches the others. */
  get isConnected(): boolean {
    if (this.#isSure) return true;
    const now = performance.now();
    return now - this.#pulse < DEAD_MS && now - this.#stored < ELECTION_MS;
  }

  /** True while this node sees the stored heartbeats of the cluster, its own among them: then it is not cut off. */
  get #isSure(): boolean {
    const { silenceMs } = this;
    // After a pause of this process, such as for a long list, its own heartbeat waits to be read, too.
    return silenceMs < DEAD_MS || (this.#isPaused && silenceMs !== Number.POSITIVE_INFINITY);
  }

  /** True when this process has just been standing still. */
  get #isPaused(): boolean {
    return performance.now() - this.#checked > 3 * CHECK_MS;
  }

  /** True when others may have taken this process for dead, as it has just been standing still. */
  get stoodStill(): boolean {
    return performance.now() - this.#checked > DEAD_MS / 2;
  }

  /** Milliseconds since this node last saw its own stored heartbeat. */
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
    if ((member.beat ?? Number.POSITIVE_INFINITY) <= (this.#lastBeats.get(id)?.beat ?? 0)) return;
    this.#known.set(id, { member, heard: performance.now(), gone: new AbortController() });
    this.#log.info({ node: member.node, site: member.site, http: member.http }, 'a node of the cluster is here');
    for (const listener of this.#listeners) listener.joined?.(member);
  }

  /**
   * Nobody listens for it at NATS: it is dead until its next heartbeat.
   * @returns false when this node may be the one that is cut off
   */
  unreachable(id: string): boolean {
    if (!this.#isSure) return false;
    this.#drop(id, 'does not listen at NATS');
    return true;
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
    if (self === undefined) return;
    this.#beats += 1;
    const text = JSON.stringify({ ...self, beat: this.#beats } satisfies Member);
    this.#link.connection?.publish(PULSE, text);
    const { kv } = this.#bucket;
    if (kv === undefined || this.#beating) return;
    this.#beating = true;
    try {
      await kv.put(this.#id, text, { timeout: DEAD_MS });
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
      const now = performance.now();
      const before = this.#echo;
      this.#echo = this.#stored = now;
      this.#echoed.resolve();
      // What was written meanwhile is not stored.
      if (now - before > DEAD_MS && before !== Number.NEGATIVE_INFINITY && !this.#isPaused) this.#link.again();
      return;
    }
    if (value === undefined) return this.#drop(key, LEFT);
    const member = parsed(value);
    if (member?.id === key) this.meet(member);
  }

  #felt(told: Uint8Array): void {
    const member = parsed(told);
    if (member === undefined) return;
    if (member.id === this.#id) this.#pulse = performance.now();
    else this.meet(member);
  }

  #check(): void {
    const now = performance.now();
    // After a pause of this process, heartbeats wait to be read: nobody is judged now.
    const [paused, stoodStill] = [this.#isPaused, this.stoodStill];
    this.#checked = now;
    if (paused) {
      for (const known of this.#known.values()) known.heard = Math.max(known.heard, now - DEAD_MS / 2);
      if (this.silenceMs !== Number.POSITIVE_INFINITY) this.#echo = Math.max(this.#echo, now - DEAD_MS / 2);
      if (stoodStill) for (const listener of this.#listeners) listener.woke?.();
      return;
    }
    // Without its own heartbeats this node is the one that is cut off.
    if (this.#self !== undefined && !this.#isSure) return;
    for (const [id, { heard }] of this.#known) if (now - heard > DEAD_MS) this.#drop(id, 'is silent');
  }

  #drop(id: string, reason: string): void {
    const known = this.#known.get(id);
    if (known === undefined) return;
    this.#known.delete(id);
    this.#keepLastBeat(known.member);
    const { node, site } = known.member;
    this.#log.warn({ node, site, reason }, 'a node of the cluster is gone');
    known.gone.abort();
    const silentMs = performance.now() - known.heard;
    for (const listener of this.#listeners) listener.gone?.(known.member, reason === LEFT, silentMs);
  }

  #keepLastBeat({ id, beat = 0 }: Member): void {
    const now = performance.now();
    for (const [each, { at }] of this.#lastBeats) if (now - at > 2 * BUCKET.ttlMs) this.#lastBeats.delete(each);
    this.#lastBeats.set(id, { beat, at: now });
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
