/** Which node has what a name of a domain means, such as the conference room of a number: in a bucket of NATS. */
import { createHash } from 'node:crypto';
import type { KV } from '@nats-io/kv';
import { ClusterAwayError } from '../errors.ts';
import { Bucket } from './buckets.ts';
import type { NatsLink } from './nats-link.ts';
import type { Log } from '../log.ts';

/** Milliseconds for an answer of NATS. */
const ANSWER_MS = 2000;
/** Milliseconds before a name is claimed again that NATS did not take. */
const RETRY_MS = 1000;
/** Attempts while others write the same entry. */
const ATTEMPTS = 8;

/**
 * The first node that asks for a name has it, until it gives it back or dies: `create` of an entry works once. What NATS has
 * lost, and what began without it, is written at the next connection.
 */
export class NameOwners {
  readonly #self: string;
  readonly #lives: (id: string) => boolean;
  readonly #bucket: Bucket;
  readonly #log: Log;
  /** Names of this node, and requests on their way, by key. */
  readonly #owned = new Map<string, Promise<string>>();
  /** Entries that are being removed. */
  readonly #releasing = new Map<string, Promise<void>>();

  /**
   * @param self id of this process
   * @param lives whether another process does
   */
  constructor(link: NatsLink, bucket: string, self: string, lives: (id: string) => boolean, log: Log) {
    this.#self = self;
    this.#lives = lives;
    this.#log = log;
    this.#bucket = new Bucket(
      link,
      // An entry lives as long as what it names.
      { name: bucket },
      {
        entry: (key, value) => {
          // Another node has given it back that was faster at the last connection.
          if (value === undefined && this.#owned.has(key)) void this.#reclaim(key);
        },
        complete: () => {
          for (const key of this.#owned.keys()) void this.#reclaim(key);
        },
      },
      log,
    );
  }

  /**
   * The node that has the name; this one from now on, where nobody has.
   * @returns id of the process
   * @throws ClusterAwayError
   */
  async owner(domain: string, name: string): Promise<string> {
    const key = keyOf(domain, name);
    const known = this.#owned.get(key);
    if (known !== undefined) return await known;
    const asked = this.#claim(key);
    this.#owned.set(key, asked);
    try {
      const owner = await asked;
      if (owner !== this.#self) this.#owned.delete(key);
      return owner;
    } catch (error) {
      this.#owned.delete(key);
      throw error;
    }
  }

  /** True for a name of this node, from now on where nobody has it. @throws ClusterAwayError */
  async isOurs(domain: string, name: string): Promise<boolean> {
    return (await this.owner(domain, name)) === this.#self;
  }

  /** The node that has the name; undefined: nobody has. @throws ClusterAwayError */
  async find(domain: string, name: string): Promise<string | undefined> {
    const { kv } = this.#bucket;
    if (kv === undefined) throw new ClusterAwayError();
    const entry = await within(kv.get(keyOf(domain, name)));
    if (entry?.operation !== 'PUT') return undefined;
    const owner = entry.string();
    return owner === this.#self || this.#lives(owner) ? owner : undefined;
  }

  /** This node uses the name, also without NATS: the claim is made as soon as it can be. */
  hold(domain: string, name: string): void {
    const key = keyOf(domain, name);
    if (this.#owned.has(key)) return;
    this.#owned.set(key, Promise.resolve(this.#self));
    void this.#reclaim(key);
  }

  /** What it names is over. */
  release(domain: string, name: string): void {
    const key = keyOf(domain, name);
    if (!this.#owned.delete(key)) return;
    const released = this.#remove(key).finally(() => this.#releasing.delete(key));
    this.#releasing.set(key, released);
  }

  close(): void {
    this.#bucket.close();
  }

  async #remove(key: string): Promise<void> {
    const { kv } = this.#bucket;
    try {
      const entry = await kv?.get(key);
      // Where two nodes came to use a name without NATS, the entry may be the other one's.
      if (entry?.operation === 'PUT' && entry.string() === this.#self)
        await kv?.delete(key, { previousSeq: entry.revision });
    } catch (err) {
      // It stays with this node, which uses the name next.
      this.#log.debug({ err }, 'the entry of a name was not removed');
    }
  }

  /** Another node may be first: both go on, and this one has the name once the other has given it back. */
  async #reclaim(key: string): Promise<void> {
    try {
      await this.#claim(key);
    } catch (err) {
      this.#log.debug({ err }, 'a name is claimed later');
      // At the next connection, or before.
      if (this.#bucket.kv !== undefined) setTimeout(() => this.#claimAgain(key), RETRY_MS).unref();
    }
    // It was given back meanwhile.
    if (!this.#owned.has(key)) await this.#remove(key);
  }

  #claimAgain(key: string): void {
    if (this.#owned.has(key)) void this.#reclaim(key);
  }

  async #claim(key: string): Promise<string> {
    await this.#releasing.get(key);
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const { kv } = this.#bucket;
      if (kv === undefined) throw new ClusterAwayError();
      const owner = await within(this.#attempt(kv, key));
      if (owner !== undefined) return owner;
    }
    throw new ClusterAwayError();
  }

  /** @returns undefined when another node has changed the entry meanwhile */
  async #attempt(kv: KV, key: string): Promise<string | undefined> {
    const created = await succeeds(kv.create(key, this.#self));
    if (created) return this.#self;
    const entry = await kv.get(key);
    if (entry?.operation !== 'PUT') return undefined;
    const owner = entry.string();
    if (owner === this.#self || this.#lives(owner)) return owner;
    // Its node died with what it names.
    return (await succeeds(kv.update(key, this.#self, entry.revision))) ? this.#self : undefined;
  }
}

async function succeeds(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch {
    return false;
  }
}

async function within<T>(work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new ClusterAwayError()), ANSWER_MS);
  try {
    return await Promise.race([work, late.promise]);
  } catch {
    throw new ClusterAwayError();
  } finally {
    clearTimeout(timer);
  }
}

/** Keys of NATS allow few characters. */
function keyOf(domain: string, name: string): string {
  return createHash('sha256').update(`${domain} ${name}`).digest('hex').slice(0, 32);
}
