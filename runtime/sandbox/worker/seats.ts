import type { Door } from './door.ts';
import { Room } from './room.ts';
import { type Program, prepareSource } from './source.ts';

/** A place for one run: an isolate that runs this program only, with a fresh context ready in it. */
export interface Seat {
  readonly program: Program;
  readonly memoryMb: number;
  readonly room: Room;
  readonly door: Door;
  /** Runs it served, this one included. */
  readonly uses: number;
}

/** Idle seats kept in all, and for one program. */
const IDLE_IN_ALL = 64;
const IDLE_FOR_ONE = 8;

/** Seats that are readied for one program while somebody waits for one: enough for runs that follow on each other's heels. */
const READYING_FOR_WAITING = 2;

/**
 * Part of the memory limit an isolate may still hold after a run to be used again. What runs of modules leave behind costs V8 more to
 * find than a fresh isolate takes, by a fifth of the processor time of a module that waits; for blocks it is the other way round.
 */
const REUSABLE_SHARE = { block: 0.5, module: 0.25 } as const;
/** Runs an isolate serves between two looks at its memory; the first look is after so many. */
const USES_BETWEEN_LOOKS = 8;

/** Hands out seats. Making an isolate is dear, so that of a run that ended well serves the next run of its program. */
export class Seats {
  readonly #idle = new Map<Program, Seat[]>();
  /** Waiting for seats that are being readied. */
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
   * A seat that was never used and is not kept.
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

  /** Readies a seat for the next run of its program, unless it is crowded; never rejects. */
  async giveBack(seat: Seat): Promise<void> {
    const { program } = seat;
    const enough = (this.#idle.get(program)?.length ?? 0) + (this.#readying.get(program) ?? 0) >= IDLE_FOR_ONE;
    if (enough && !this.#expecting.has(program)) {
      seat.door.close();
      return leave(seat.room);
    }
    await this.#ready(program, renew(seat));
  }

  /** So that the next run need not wait for a fresh context: one is made while the other works. */
  async #addSpare(program: Program, memoryMb: number): Promise<void> {
    await this.#ready(
      program,
      this.make(program, memoryMb, false).catch(() => undefined),
    );
  }

  /** Gives a seat to whoever waits for it, as soon as it is ready. @param seat never rejects */
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

  /** Throws away what is kept for a program. */
  forget(program: Program): void {
    const seats = this.#idle.get(program) ?? [];
    this.#idle.delete(program);
    this.#idleCount -= seats.length;
    for (const { room } of seats) leave(room);
  }

  /** A seat that is about to be ready comes sooner than a new one. */
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
    // Put last, for the one used longest ago is thrown away first.
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

/** The seat with a fresh context; undefined when its isolate is of no more use. */
async function renew({ program, memoryMb, room, door, uses }: Seat): Promise<Seat | undefined> {
  try {
    door.close();
    const crowded = uses % USES_BETWEEN_LOOKS === 0 && (await isCrowded(room, memoryMb * REUSABLE_SHARE[program.kind]));
    if (!crowded) return { program, memoryMb, room, door: await room.open(), uses: uses + 1 };
  } catch {
    // An isolate that fails between two runs harms none.
  }
  leave(room);
  return undefined;
}

async function isCrowded(room: Room, megabytes: number): Promise<boolean> {
  const { used_heap_size: heap, externally_allocated_size: external } = await room.isolate.getHeapStatistics();
  return heap + external > megabytes * 1_048_576;
}

/** Disposes an isolate that may be gone already. */
export function leave(room: Room): void {
  if (!room.isolate.isDisposed) room.isolate.dispose();
}
