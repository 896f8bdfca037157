import { TURNS } from '../rtp/ticker.ts';

/** Channels in a turn before the next one is used: so few make no burst, and each turn in use wakes the thread. */
const FEW = 16;

interface Place {
  turn: number;
  /** The last frame in which the channel had its turn: one that moves to a later turn has none twice. */
  frame: number;
}

/** Which channel has its turn when within a frame. The book knows nothing of a channel (`T`) but which one it is. */
export class TurnBook<T extends object> {
  readonly #turns: readonly Map<T, Place>[] = Array.from({ length: TURNS }, () => new Map<T, Place>());

  /** Gives a new channel the first turn that is not much used, or the least used one. */
  enter(channel: T): void {
    const sizes = this.#turns.map(({ size }) => size);
    const free = sizes.findIndex((size) => size < FEW);
    const turn = free >= 0 ? free : sizes.indexOf(Math.min(...sizes));
    this.#turns[turn]?.set(channel, { turn, frame: -1 });
  }

  leave(channel: T): void {
    this.#turns[this.turnOf(channel)]?.delete(channel);
  }

  /** From the next frame on the channel has its turn with others, right after what they have in common. */
  move(channel: T, turn: number): void {
    const from = this.#turns[this.turnOf(channel)];
    const place = from?.get(channel);
    if (place === undefined || place.turn === turn) return;
    from?.delete(channel);
    place.turn = turn;
    this.#turns[turn]?.set(channel, place);
  }

  /** The turn of a channel; the first for one that has none. */
  turnOf(channel: T): number {
    return Math.max(
      0,
      this.#turns.findIndex((turn) => turn.has(channel)),
    );
  }

  isUsed(turn: number): boolean {
    return (this.#turns[turn]?.size ?? 0) > 0;
  }

  /** Calls `tick` for every channel whose turn it is, once in a frame. */
  run(frame: number, turn: number, tick: (channel: T) => void): void {
    for (const [channel, place] of this.#turns[turn] ?? []) {
      if (place.frame === frame) continue;
      place.frame = frame;
      tick(channel);
    }
  }
}
