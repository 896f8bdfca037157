/** Snapshots of lists, mode A: the first page filters and sorts, later pages are slices (specification, `snapshot`). */
import { BadParameterError, NotFoundError } from '../errors.ts';
import type { Entity } from '../fields.ts';

const IDLE_MS = 60_000;
const LIFETIME_MS = 300_000;
const MAX_PER_SESSION = 16;
const MAX_ID_LENGTH = 64;

interface Snapshot {
  readonly session: string;
  /** Filter and order of the first page. */
  readonly query: string;
  readonly items: Promise<readonly Entity[]>;
  readonly made: number;
  used: number;
}

export interface SnapshotRequest {
  readonly session: string;
  readonly id: string;
  readonly query: string;
  readonly offset: number;
}

export class Snapshots {
  readonly #now: () => number;
  /** Least recently used first. */
  readonly #snapshots = new Map<string, Snapshot>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * The items of a snapshot; offset 0 creates it.
   *
   * @throws NotFoundError for a later page of an unknown or expired snapshot
   * @throws BadParameterError for a page with another filter or order
   */
  async items(
    { session, id, query, offset }: SnapshotRequest,
    make: () => Promise<readonly Entity[]>,
  ): Promise<readonly Entity[]> {
    if (id.length > MAX_ID_LENGTH)
      throw new BadParameterError('snapshot', `must be at most ${MAX_ID_LENGTH} characters`);
    const now = this.#now();
    this.expire();
    const key = JSON.stringify([session, id]);
    const known = this.#snapshots.get(key);
    if (known !== undefined && (offset > 0 || known.query === query)) {
      if (known.query !== query) throw new BadParameterError('snapshot', 'was made with another filter or order');
      known.used = now;
      this.#snapshots.delete(key);
      this.#snapshots.set(key, known);
      return await known.items;
    }
    if (offset > 0) throw new NotFoundError('Snapshot', id);
    const snapshot = { session, query, items: make(), made: now, used: now };
    this.#snapshots.delete(key);
    this.#makeRoom(session);
    this.#snapshots.set(key, snapshot);
    return await snapshot.items;
  }

  clear(): void {
    this.#snapshots.clear();
  }

  /** Drops idle and old snapshots. */
  expire(): void {
    const now = this.#now();
    for (const [key, { made, used }] of this.#snapshots) {
      if (now - used >= IDLE_MS || now - made >= LIFETIME_MS) this.#snapshots.delete(key);
    }
  }

  #makeRoom(session: string): void {
    const own = [...this.#snapshots].filter(([, snapshot]) => snapshot.session === session);
    for (const [key] of own.slice(0, Math.max(0, own.length - MAX_PER_SESSION + 1))) this.#snapshots.delete(key);
  }
}
