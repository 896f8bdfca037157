/** Which node has the conference room of a number, in a bucket of NATS. */
import { createHash } from 'node:crypto';
import type { KV } from '@nats-io/kv';
import { ClusterAwayError } from '../errors.ts';
import { Bucket } from '../link/buckets.ts';
import type { NatsLink } from '../link/nats-link.ts';
import type { Log } from '../log.ts';

/** An entry lives as long as its room. */
const BUCKET = { name: 'ringmaster_rooms', storage: 'file' } as const;
/** Milliseconds for an answer of NATS. */
const ANSWER_MS = 2000;
/** Attempts while others write the same entry. */
const ATTEMPTS = 8;

/**
 * The first node that asks for a room has it, until it gives it back or dies: `create` of an entry works once. What NATS has
 * lost meanwhile is written again at the next connection.
 */
export class RoomOwners {
  readonly #self: string;
  readonly #lives: (id: string) => boolean;
  readonly #bucket: Bucket;
  readonly #log: Log;
  /** Rooms of this node, and requests on their way, by key. */
  readonly #owned = new Map<string, Promise<string>>();
  /** Entries that are being removed. */
  readonly #releasing = new Map<string, Promise<void>>();

  /**
   * @param self id of this process
   * @param lives whether another process does
   */
  constructor(link: NatsLink, self: string, lives: (id: string) => boolean, log: Log) {
    this.#self = self;
    this.#lives = lives;
    this.#log = log;
    this.#bucket = new Bucket(
      link,
      BUCKET,
      {
        entry: () => undefined,
        complete: (kv) => {
          // Another node may be first: then the callers of both rooms stay where they are.
          for (const key of this.#owned.keys()) kv.create(key, self).catch(() => undefined);
        },
      },
      log,
    );
  }

  /**
   * The node that has the room; this one from now on, where nobody has.
   * @returns id of the process
   * @throws ClusterAwayError
   */
  async owner(domain: string, number: string): Promise<string> {
    const key = keyOf(domain, number);
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

  /** The node that has the room; undefined: nobody has. @throws ClusterAwayError */
  async find(domain: string, number: string): Promise<string | undefined> {
    const { kv } = this.#bucket;
    if (kv === undefined) throw new ClusterAwayError();
    const entry = await within(kv.get(keyOf(domain, number)));
    if (entry?.operation !== 'PUT') return undefined;
    const owner = entry.string();
    return owner === this.#self || this.#lives(owner) ? owner : undefined;
  }

  /** The room is over. */
  release(domain: string, number: string): void {
    const key = keyOf(domain, number);
    if (!this.#owned.delete(key)) return;
    const released = this.#remove(key).finally(() => this.#releasing.delete(key));
    this.#releasing.set(key, released);
  }

  close(): void {
    this.#bucket.close();
  }

  async #remove(key: string): Promise<void> {
    try {
      await this.#bucket.kv?.delete(key);
    } catch (err) {
      // It stays with this node, which makes the next room of the number.
      this.#log.debug({ err }, 'the entry of a room was not removed');
    }
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
    // Its node died with the room.
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
function keyOf(domain: string, number: string): string {
  return createHash('sha256').update(`${domain} ${number}`).digest('hex').slice(0, 32);
}
