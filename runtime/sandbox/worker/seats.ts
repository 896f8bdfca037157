import { type Door, Room } from './door.ts';
import { type Program, prepareSource } from './source.ts';

/** A place for one run: an isolate that runs this program only, with a fresh context ready in it. */
export interface Seat {
  readonly program: Program;
  readonly memoryMb: number;
  readonly room: Room;
  readonly door: Door;
}

/** Idle seats kept in all, and for one program. */
const IDLE_IN_ALL = 32;
const IDLE_FOR_ONE = 4;

/** Part of the memory limit an isolate may still hold after a run to be used again. */
const REUSABLE_SHARE = 0.5;

/** Hands out seats. Making an isolate is dear, so that of a run that ended well serves the next run of its program. */
export class Seats {
  readonly #idle = new Map<Program, Seat[]>();
  readonly #onCatastrophe: (message: string) => void;
  #idleCount = 0;

  constructor(onCatastrophe: (message: string) => void) {
    this.#onCatastrophe = onCatastrophe;
  }

  /** @throws SourceError */
  async take(program: Program, memoryMb: number): Promise<Seat> {
    const seat = this.#takeIdle(program, memoryMb);
    if (seat) return seat;
    return this.make(program, memoryMb, false);
  }

  /**
   * A seat that was never used and is not kept.
   * @throws SourceError
   */
  async make(program: Program, memoryMb: number, inspector: boolean): Promise<Seat> {
    const room = new Room(program, prepareSource(program), {
      memoryMb,
      inspector,
      onCatastrophe: this.#onCatastrophe,
    });
    try {
      return { program, memoryMb, room, door: await room.open() };
    } catch (error) {
      leave(room);
      throw error;
    }
  }

  /** Readies a seat for the next run of its program, unless it is crowded; never rejects. */
  async giveBack({ program, memoryMb, room, door }: Seat): Promise<void> {
    try {
      door.close();
      if (await isCrowded(room, memoryMb)) return leave(room);
      this.#keep({ program, memoryMb, room, door: await room.open() });
    } catch {
      // An isolate that fails between two runs harms none.
      leave(room);
    }
  }

  /** Throws away what is kept for a program. */
  forget(program: Program): void {
    const seats = this.#idle.get(program) ?? [];
    this.#idle.delete(program);
    this.#idleCount -= seats.length;
    for (const { room } of seats) leave(room);
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

async function isCrowded(room: Room, memoryMb: number): Promise<boolean> {
  const { used_heap_size: heap, externally_allocated_size: external } = await room.isolate.getHeapStatistics();
  return heap + external > memoryMb * 1_048_576 * REUSABLE_SHARE;
}

/** Disposes an isolate that may be gone already. */
export function leave(room: Room): void {
  if (!room.isolate.isDisposed) room.isolate.dispose();
}
