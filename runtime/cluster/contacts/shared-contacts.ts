/** The registered contacts of all nodes, in a bucket of NATS. */
import { createHash } from 'node:crypto';
import type { ContactSharing, PersistentLocation, StoredBinding } from '../../domain/index.ts';
import type { Log } from '../log.ts';
import { Bucket } from '../link/buckets.ts';
import type { NatsLink } from '../link/nats-link.ts';

/** An hour is the longest registration; a minute more lets clocks differ. */
const BUCKET = { name: 'ringmaster_contacts', ttlMs: 3_660_000 } as const;
/** Milliseconds before a change is told again that NATS did not take. */
const RETRY_MS = 500;

/** What this needs of the location service. */
type SharedLocation = Pick<PersistentLocation, 'shareWith' | 'receive' | 'receiveRemoval' | 'registered'>;

/** A change of a contact. The newest one counts; a removal stays in the bucket, so that it wins over older ones. */
type Change =
  | { readonly at: number; readonly binding: StoredBinding }
  | { readonly at: number; readonly removed: { readonly sipUserId: string; readonly contact: string } };

/**
 * Tells the other nodes what phones register here, and this node what they register elsewhere. While NATS is away each node
 * knows what it knew, and what registers at it; both are told when it is back.
 */
export class SharedContacts implements ContactSharing {
  readonly #location: SharedLocation;
  readonly #bucket: Bucket;
  readonly #log: Log;
  /** What this node still has to tell, by key. */
  readonly #pending = new Map<string, Change>();
  /** Times of the entries that the bucket has, while it is read at a connection. */
  #stored: Map<string, number> | undefined;
  #retry: NodeJS.Timeout | undefined;
  /** The latest time of all changes: where clocks differ, the change that knows of another one is the newer one. */
  #latest = 0;

  constructor(link: NatsLink, location: SharedLocation, log: Log) {
    this.#location = location;
    this.#log = log;
    link.onUp(() => {
      this.#stored = new Map();
    });
    this.#bucket = new Bucket(
      link,
      BUCKET,
      { entry: (key, value) => this.#told(key, value), complete: () => this.#complete() },
      log,
    );
    location.shareWith(this);
  }

  stamp(now: number): number {
    this.#latest = Math.max(now, this.#latest + 1);
    return this.#latest;
  }

  saved(binding: StoredBinding): void {
    this.#tell(keyOf(binding), { at: binding.saved, binding });
  }

  removed({ sipUserId, contact }: { readonly sipUserId: string; readonly contact: string }, at: number): void {
    this.#tell(keyOf({ sipUserId, contact }), { at, removed: { sipUserId, contact } });
  }

  close(): void {
    clearTimeout(this.#retry);
    this.#bucket.close();
  }

  #tell(key: string, change: Change): void {
    this.#pending.set(key, change);
    this.#send(key, change);
  }

  #send(key: string, change: Change): void {
    const { kv } = this.#bucket;
    // Until the bucket is read, an older change of this node could hide a newer one of another.
    if (kv === undefined || this.#stored !== undefined) return;
    kv.put(key, JSON.stringify(change)).then(
      () => {
        if (this.#pending.get(key) === change) this.#pending.delete(key);
      },
      (err: unknown) => {
        this.#log.debug({ err }, 'a registration was not told to the other nodes yet');
        this.#retry ??= setTimeout(() => {
          this.#retry = undefined;
          this.#sendAll();
        }, RETRY_MS).unref();
      },
    );
  }

  #sendAll(): void {
    for (const [key, change] of this.#pending) this.#send(key, change);
  }

  #told(key: string, value: Uint8Array | undefined): void {
    const change = value === undefined ? undefined : parsed(value);
    if (change === undefined) return;
    this.#latest = Math.max(this.#latest, change.at);
    this.#stored?.set(key, change.at);
    const mine = this.#pending.get(key);
    if (mine !== undefined && mine.at > change.at) return;
    this.#pending.delete(key);
    if ('binding' in change) this.#location.receive(change.binding);
    else this.#location.receiveRemoval(change.removed, change.at);
  }

  /** Tells what the database and this node have, and the bucket has not. */
  #complete(): void {
    const stored = this.#stored ?? new Map<string, number>();
    this.#stored = undefined;
    for (const binding of this.#location.registered()) {
      const key = keyOf(binding);
      if ((stored.get(key) ?? 0) < binding.saved && !this.#pending.has(key))
        this.#pending.set(key, { at: binding.saved, binding });
    }
    this.#sendAll();
  }
}

function keyOf({ sipUserId, contact }: { readonly sipUserId: string; readonly contact: string }): string {
  return createHash('sha256').update(`${sipUserId} ${contact}`).digest('hex').slice(0, 32);
}

function parsed(value: Uint8Array): Change | undefined {
  try {
    const change = JSON.parse(Buffer.from(value).toString('utf8')) as Partial<Change>;
    return typeof change.at === 'number' && ('binding' in change || 'removed' in change)
      ? (change as Change)
      : undefined;
  } catch {
    return undefined;
  }
}
