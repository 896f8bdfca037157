/** The turns of channels within a frame. */
import { TURNS } from '../rtp/ticker.ts';

/** Channels in a turn before the next turn is used. So few make no burst, and every used turn wakes the thread. */
const FEW = 16;

interface Place {
  turn: number;
  /** The last frame in which the channel was called, so that a move to a later turn does not call it twice. */
  frame: number;
}

/** Assigns the turns within a frame to channels (`T`). */
export class TurnBook<T extends object> {
  readonly #turns: readonly Map<T, Place>[] = Array.from({ length: TURNS }, () => new Map<T, Place>());

  /** Gives a new channel the first turn with few channels, or else the one with the fewest. */
  enter(channel: T): void {
    const sizes = this.#turns.map(({ size }) => size);
    const free = sizes.findIndex((size) => size < FEW);
    const turn = free >= 0 ? free : sizes.indexOf(Math.min(...sizes));
    this.#turns[turn]?.set(channel, { turn, frame: -1 });
  }

  leave(channel: T): void {
    this.#turns[this.turnOf(channel)]?.delete(channel);
  }

  /** Moves a channel to another turn from the next frame on, such as that of its conference. */
  move(channel: T, turn: number): void {
    const from = this.#turns[this.turnOf(channel)];
    const place = from?.get(channel);
    if (place === undefined || place.turn === turn) return;
    from?.delete(channel);
    place.turn = turn;
    this.#turns[turn]?.set(channel, place);
  }

  /** The turn of a channel; 0 for an unknown one. */
  turnOf(channel: T): number {
    return Math.max(
      0,
      this.#turns.findIndex((turn) => turn.has(channel)),
    );
  }

  isUsed(turn: number): boolean {
    return (this.#turns[turn]?.size ?? 0) > 0;
  }

  /** Calls `tick` for every channel with this turn, once a frame. */
  run(frame: number, turn: number, tick: (channel: T) => void): void {
    for (const [channel, place] of this.#turns[turn] ?? []) {
      if (place.frame === frame) continue;
      place.frame = frame;
      tick(channel);
    }
  }
}
