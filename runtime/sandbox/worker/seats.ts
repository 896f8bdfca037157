/** Isolates for runs. */
import type { Door } from './door.ts';
import { Room } from './room.ts';
import { type Program, prepareSource } from './source.ts';

/** A place for one run: an isolate of its program with a new context. */
export interface Seat {
  readonly program: Program;
  readonly memoryMb: number;
  readonly room: Room;
  readonly door: Door;
  /** Number of runs served, including this one. */
  readonly uses: number;
}

/** Number of idle seats kept in total, and per program. */
const IDLE_IN_ALL = 64;
const IDLE_FOR_ONE = 8;

/** Seats prepared for one program while runs wait: enough for runs in quick succession. */
const READYING_FOR_WAITING = 2;

/**
 * Share of the memory limit that an isolate may hold after a run to be reused. Collecting the garbage of a module's run
 * costs V8 more than a new isolate, by a fifth of the processor time of a waiting module; for blocks it is the reverse.
 */
const REUSABLE_SHARE = { block: 0.5, module: 0.25 } as const;
/** Number of runs of an isolate between memory checks, and before the first one. */
const USES_BETWEEN_LOOKS = 8;

/**
 * Hands out seats. Creating an isolate is expensive, so the isolate of a successful run serves the next run of its
 * program.
 */
export class Seats {
  readonly #idle = new Map<Program, Seat[]>();
  /** Runs waiting for seats in preparation. */
  readonly #expecting = new Map<Program, ((seat: Seat | undefined) => void)[]>();
  readonly #readying = new Map<Program, number>();
  #idleCount = 0;

  /** @throws SourceError */
  async take(program: Program, memoryMb: number): Promise<Seat> {
    const seat = this.#takeIdle(program, memoryMb) ?? (await this.#takeReadying(program, memoryMb));
    if (seat?.memoryMb === memoryMb) return seat;
    if (seat) this.#keep(seat);
    return this.make(program, memoryMb, false);
  }

  /**
   * A new seat that is not kept.
   * @throws SourceError
   */
  async make(program: Program, memoryMb: number, inspector: boolean): Promise<Seat> {
    const room = new Room(program, prepareSource(program), { memoryMb, inspector });
    try {
      return { program, memoryMb, room, door: await room.open(), uses: 1 };
    } catch (error) {
      leave(room);
      throw error;
    }
  }

  /** Prepares a seat for the next run of its program, unless there are enough; never rejects. */
  async giveBack(seat: Seat): Promise<void> {
    const { program } = seat;
    const enough = (this.#idle.get(program)?.length ?? 0) + (this.#readying.get(program) ?? 0) >= IDLE_FOR_ONE;
    if (enough && !this.#expecting.has(program)) {
      seat.door.close();
      return leave(seat.room);
    }
    await this.#ready(program, renew(seat));
  }

  /** Creates a context during the run, so that the next run need not wait for it. */
  async #addSpare(program: Program, memoryMb: number): Promise<void> {
    await this.#ready(
      program,
      this.make(program, memoryMb, false).catch(() => undefined),
    );
  }

  /** Gives a prepared seat to a waiting run. @param seat never rejects */
  async #ready(program: Program, seat: Promise<Seat | undefined>): Promise<void> {
    this.#readying.set(program, (this.#readying.get(program) ?? 0) + 1);
    const ready = await seat;
    const others = (this.#readying.get(program) ?? 1) - 1;
    if (others === 0) this.#readying.delete(program);
    else this.#readying.set(program, others);
    const [next] = this.#expecting.get(program)?.splice(0, 1) ?? [];
    if (next) next(ready);
    else if (ready) this.#keep(ready);
  }

  /** Disposes the kept seats of a program. */
  forget(program: Program): void {
    const seats = this.#idle.get(program) ?? [];
    this.#idle.delete(program);
    this.#idleCount -= seats.length;
    for (const { room } of seats) leave(room);
  }

  /** A seat in preparation is available sooner than a new one. */
  async #takeReadying(program: Program, memoryMb: number): Promise<Seat | undefined> {
    const expecting = this.#expecting.get(program) ?? [];
    if ((this.#readying.get(program) ?? 0) <= expecting.length) return undefined;
    const { promise, resolve } = Promise.withResolvers<Seat | undefined>();
    this.#expecting.set(program, [...expecting, resolve]);
    if ((this.#readying.get(program) ?? 0) < READYING_FOR_WAITING) void this.#addSpare(program, memoryMb);
    const seat = await promise;
    if (this.#expecting.get(program)?.length === 0) this.#expecting.delete(program);
    return seat;
  }

  #takeIdle(program: Program, memoryMb: number): Seat | undefined {
    const seats = this.#idle.get(program);
    const index = seats?.findIndex((seat) => seat.memoryMb === memoryMb) ?? -1;
    if (!seats || index === -1) return undefined;
    const [seat] = seats.splice(index, 1);
    if (seats.length === 0) this.#idle.delete(program);
    this.#idleCount--;
    return seat;
  }

  #keep(seat: Seat): void {
    const seats = this.#idle.get(seat.program) ?? [];
    if (seats.length >= IDLE_FOR_ONE) return leave(seat.room);
    // Inserted again, so that the least recently used one is disposed first.
    this.#idle.delete(seat.program);
    this.#idle.set(seat.program, [...seats, seat]);
    this.#idleCount++;
    if (this.#idleCount > IDLE_IN_ALL) this.#throwOldest();
  }

  #throwOldest(): void {
    const [oldest] = this.#idle.keys();
    if (oldest === undefined) return;
    const [seat, ...rest] = this.#idle.get(oldest) ?? [];
    if (rest.length === 0) this.#idle.delete(oldest);
    else this.#idle.set(oldest, rest);
    this.#idleCount--;
    if (seat) leave(seat.room);
  }
}

/** The seat with a new context; undefined when its isolate is unusable. */
async function renew({ program, memoryMb, room, door, uses }: Seat): Promise<Seat | undefined> {
  try {
    door.close();
    const crowded = uses % USES_BETWEEN_LOOKS === 0 && (await isCrowded(room, memoryMb * REUSABLE_SHARE[program.kind]));
    if (!crowded) return { program, memoryMb, room, door: await room.open(), uses: uses + 1 };
  } catch {
    // An isolate that fails between two runs affects neither.
  }
  leave(room);
  return undefined;
}

async function isCrowded(room: Room, megabytes: number): Promise<boolean> {
  const { used_heap_size: heap, externally_allocated_size: external } = await room.isolate.getHeapStatistics();
  return heap + external > megabytes * 1_048_576;
}

/** Disposes an isolate, which may be disposed already. */
export function leave(room: Room): void {
  if (!room.isolate.isDisposed) room.isolate.dispose();
}
