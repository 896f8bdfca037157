/** Which deliveries are sent when: each webhook has a lane of its own, so that a dead server delays no other. */
import { restOf } from './back-off.ts';
import type { DeliveryRow } from './deliveries.ts';
import type { DeliveryQueue } from './queue.ts';

/** Attempts at once of one webhook; of one whose server fails, one. */
const PER_WEBHOOK = 4;
/** Attempts at once of the node. */
const PER_NODE = 200;
/** Milliseconds between two looks for deliveries that other nodes left. */
const LOOK_MS = 15_000;

/** Milliseconds until the next look at deliveries that another node is claiming. */
const BUSY_MS = 250;

interface Lane {
  running: number;
  /** Failures in a row. */
  failures: number;
  /** When the next delivery is due, in milliseconds since the epoch. */
  due: number;
  /** No attempt before this time, in milliseconds since the epoch. */
  restsUntil: number;
  claiming: boolean;
  /** Something was queued while the lane was claiming. */
  woken: boolean;
}

export interface LanesOptions {
  readonly queue: Pick<DeliveryQueue, 'claim' | 'due'>;
  /** Sends a delivery and stores the result. @returns whether the server took it; undefined: the attempt does not count */
  readonly attempt: (delivery: DeliveryRow) => Promise<boolean | undefined>;
  /** A server that rested takes deliveries again. */
  readonly back: (id: string) => Promise<void>;
  readonly failed: (err: unknown) => void;
  readonly now?: () => number;
}

export class Lanes {
  readonly #options: LanesOptions;
  readonly #now: () => number;
  readonly #lanes = new Map<string, Lane>();
  readonly #work = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #looked = 0;
  #running = 0;
  #closed = false;

  constructor(options: LanesOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** Attempts in progress. */
  get running(): number {
    return this.#running;
  }

  /** Opens a lane, or makes a resting one go on. */
  open(id: string): void {
    const lane = this.#lanes.get(id);
    if (lane === undefined) {
      this.#lanes.set(id, { running: 0, failures: 0, due: 0, restsUntil: 0, claiming: false, woken: false });
    } else {
      lane.failures = 0;
      lane.restsUntil = 0;
    }
    this.wake(id);
  }

  /** Attempts in progress end; no other begins. */
  shut(id: string): void {
    this.#lanes.delete(id);
  }

  /** Something is due now. */
  wake(id: string): void {
    const lane = this.#lanes.get(id);
    if (lane === undefined) return;
    lane.due = 0;
    lane.woken = true;
    this.#go();
  }

  /** No further attempt begins. Settles when those in progress have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    while (this.#work.size > 0) await Promise.allSettled(this.#work);
  }

  #go(): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    const now = this.#now();
    if (this.#lanes.size === 0) return;
    if (now - this.#looked >= LOOK_MS) {
      this.#looked = now;
      this.#track(this.#look());
    }
    let next = this.#looked + LOOK_MS;
    for (const [id, lane] of this.#lanes) {
      const at = Math.max(lane.due, lane.restsUntil);
      const isFree = !lane.claiming && lane.running < most(lane) && this.#running < PER_NODE;
      if (!isFree) continue;
      if (at <= now) this.#track(this.#claim(id, lane));
      else next = Math.min(next, at);
    }
    this.#timer = setTimeout(() => this.#go(), Math.max(next - now, 1));
    this.#timer.unref();
  }

  async #claim(id: string, lane: Lane): Promise<void> {
    const slots = Math.min(most(lane) - lane.running, PER_NODE - this.#running);
    lane.claiming = true;
    lane.woken = false;
    // Reserved: other lanes claim meanwhile.
    this.#running += slots;
    let claimed: readonly DeliveryRow[] = [];
    try {
      claimed = await this.#options.queue.claim(id, slots);
      const due = claimed.length < slots ? ((await this.#options.queue.due([id])).get(id) ?? Infinity) : 0;
      // What is due and cannot be claimed is just being claimed by another node.
      const next = claimed.length === 0 ? Math.max(due, this.#now() + BUSY_MS) : due;
      lane.due = lane.woken ? 0 : next;
    } catch (err) {
      this.#options.failed(err);
      lane.due = this.#now() + LOOK_MS;
    } finally {
      this.#running -= slots - claimed.length;
      lane.claiming = false;
    }
    lane.running += claimed.length;
    for (const delivery of claimed) this.#track(this.#attempt(id, lane, delivery));
    this.#go();
  }

  async #attempt(id: string, lane: Lane, delivery: DeliveryRow): Promise<void> {
    try {
      const isTaken = await this.#options.attempt(delivery);
      if (isTaken === true) await this.#succeeded(id, lane);
      if (isTaken === false) this.#failedOnce(lane);
    } catch (err) {
      // The claim ends by itself.
      this.#options.failed(err);
    } finally {
      lane.running -= 1;
      this.#running -= 1;
      this.#go();
    }
  }

  async #succeeded(id: string, lane: Lane): Promise<void> {
    const rested = restOf(lane.failures) > 0;
    lane.failures = 0;
    lane.restsUntil = 0;
    if (rested) await this.#options.back(id);
  }

  #failedOnce(lane: Lane): void {
    lane.failures += 1;
    const rest = restOf(lane.failures);
    if (rest > 0) lane.restsUntil = this.#now() + rest;
    // The retry of this delivery may be the next one due.
    lane.due = 0;
    lane.woken = true;
  }

  /** Deliveries of other nodes that ended, and of earlier runs. */
  async #look(): Promise<void> {
    try {
      const due = await this.#options.queue.due([...this.#lanes.keys()]);
      for (const [id, at] of due) {
        const lane = this.#lanes.get(id);
        if (lane !== undefined) lane.due = Math.min(lane.due, at);
      }
      this.#go();
    } catch (err) {
      this.#options.failed(err);
    }
  }

  #track(work: Promise<void>): void {
    this.#work.add(work);
    void work.finally(() => this.#work.delete(work));
  }
}

function most({ failures }: Lane): number {
  return restOf(failures) > 0 ? 1 : PER_WEBHOOK;
}
