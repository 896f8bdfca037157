/** Which node of the cluster keeps the queues. */
import type { KV } from '@nats-io/kv';
import type { Log } from '../log.ts';
import { Bucket } from '../link/buckets.ts';
import type { NatsLink } from '../link/nats-link.ts';
import type { Membership } from '../members/membership.ts';

const BUCKET = { name: 'ringmaster_owners' } as const;
const KEY = 'queues';
/** Milliseconds in which a living owner that this node does not know yet shows itself by a heartbeat, and until a claim is tried again. */
const UNKNOWN_MS = 2500;

/**
 * The first node that writes itself into a bucket is the owner, until it leaves or dies. Then the first that replaces its
 * entry is. NATS takes one of several writers, as each names the entry that it replaces.
 */
export class DeskOwner {
  readonly #id: string;
  readonly #members: Membership;
  readonly #log: Log;
  readonly #bucket: Bucket;
  readonly #changed: () => void;
  #written: string | undefined;
  /** True while the bucket can be used and has been read. */
  #isRead = false;
  #current: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isLeaving = false;

  /** @param changed called when `current` has changed */
  constructor(link: NatsLink, members: Membership, id: string, log: Log, changed: () => void) {
    this.#id = id;
    this.#members = members;
    this.#log = log;
    this.#changed = changed;
    this.#bucket = new Bucket(
      link,
      BUCKET,
      {
        entry: (key, value) => {
          if (key !== KEY) return;
          this.#written = value === undefined ? undefined : Buffer.from(value).toString('utf8');
          this.#look();
        },
        complete: () => {
          this.#isRead = true;
          this.#look();
          this.#timer = setTimeout(() => this.#look(true), UNKNOWN_MS).unref();
        },
      },
      log,
    );
    link.onUp(() => {
      this.#written = undefined;
    });
    link.onDown(() => {
      clearTimeout(this.#timer);
      this.#isRead = false;
      this.#look();
    });
    members.listen({ joined: () => this.#look(), gone: ({ id: gone }) => this.#look(gone === this.#written) });
  }

  /** Id of the owner's process; undefined while none is known, such as without NATS: this node then works alone. */
  get current(): string | undefined {
    return this.#current;
  }

  /** Lets another node be the owner. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    clearTimeout(this.#timer);
    if (this.#written === this.#id) await this.#bucket.kv?.delete(KEY).catch(() => undefined);
    this.#bucket.close();
  }

  /** @param isGone an owner that is no living member is dead */
  #look(isGone = false): void {
    const written = this.#written;
    const isHere = written === this.#id || this.#members.others.some(({ id }) => id === written);
    const current = this.#isRead && isHere ? written : undefined;
    if (current !== this.#current) {
      this.#current = current;
      this.#changed();
    }
    if (this.#isRead && (written === undefined || (isGone && !isHere))) void this.#claim(written);
  }

  /** @param replaced the owner whose entry is replaced; undefined: there is none */
  async #claim(replaced: string | undefined): Promise<void> {
    const { kv } = this.#bucket;
    if (kv === undefined || this.#isLeaving) return;
    try {
      await this.#write(kv, replaced);
      this.#log.info({}, 'this node keeps the queues of the cluster');
    } catch (err) {
      // Another node was first, and its entry comes; or NATS stores nothing now.
      this.#log.debug({ err }, 'the queues are not kept by this node');
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#look(true), UNKNOWN_MS).unref();
    }
  }

  async #write(kv: KV, replaced: string | undefined): Promise<void> {
    if (replaced === undefined) return void (await kv.create(KEY, this.#id));
    const entry = await kv.get(KEY);
    if (entry?.operation !== 'PUT' || entry.string() !== replaced) return;
    await kv.update(KEY, this.#id, entry.revision);
  }
}
