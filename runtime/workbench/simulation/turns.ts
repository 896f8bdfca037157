/** One action of the other party of a simulated call. Times are milliseconds. */
export type Turn =
  /** Presses keys: when the scenario listens, or `after` the turn before. */
  | { readonly kind: 'press'; readonly digits: string; readonly after?: number }
  /** Speaks when the scenario listens. */
  | { readonly kind: 'say'; readonly text: string; readonly after?: number }
  /** Stays silent the next time the scenario listens. */
  | { readonly kind: 'silence' }
  /** Waits for a sound of this name. */
  | { readonly kind: 'hear'; readonly sound: string }
  /** The beep of a mailbox, `after` its greeting. */
  | { readonly kind: 'beep'; readonly after?: number }
  /** Happen by themselves, `after` the turn before. */
  | { readonly kind: 'hang_up' | 'hold' | 'unhold'; readonly after?: number };

/** A turn for a listening scenario, with its delay. */
export interface Taken {
  readonly turn: Extract<Turn, { kind: 'press' | 'say' }>;
  readonly delay: number;
}

/** Reaction time of the other party. */
export const THINK_MS = 200;

/** Keeps the remaining turns. */
export class Turns {
  readonly #turns: Turn[];
  /** Pressed keys that no block has received. */
  #ahead = '';
  /** Time of the latest turn. */
  #since = 0;

  constructor(turns: readonly Turn[]) {
    this.#turns = [...turns];
  }

  get next(): Turn | undefined {
    return this.#turns[0];
  }

  get left(): readonly Turn[] {
    return this.#ahead === '' ? this.#turns : [{ kind: 'press', digits: this.#ahead }, ...this.#turns];
  }

  /** Takes the keys typed ahead. */
  takeAhead(max: number): string {
    const taken = this.#ahead.slice(0, max);
    this.#ahead = this.#ahead.slice(max);
    return taken;
  }

  /** Ends the current turn, or starts the time of the next. */
  started(now: number): void {
    this.#since = now;
  }

  done(now: number): void {
    this.#turns.shift();
    this.#since = now;
  }

  /** Uses digits of the next turn; the rest is typed ahead. */
  pressed(count: number, now: number): void {
    const { next } = this;
    if (next?.kind !== 'press') return;
    this.#ahead += next.digits.slice(count);
    this.done(now);
  }

  /** Notes a played sound. */
  heard(sound: string, now: number): void {
    const { next } = this;
    if (next?.kind === 'hear' && next.sound === sound) this.done(now);
  }

  /** True when the next turn has a time of its own, independent of listening. */
  get isTimed(): boolean {
    const { next } = this;
    return next?.kind === 'press' && next.after !== undefined;
  }

  /** Milliseconds to the next turn with a time of its own; undefined when it waits for the scenario. */
  dueIn(now: number): number | undefined {
    const { next } = this;
    if (next === undefined || next.kind === 'hear' || next.kind === 'silence') return undefined;
    const waits = next.kind === 'press' || next.kind === 'say';
    if (next.after === undefined && waits) return undefined;
    return Math.max(0, this.#since + (next.after ?? THINK_MS) - now);
  }

  /** The turn for a scenario that listens for at most `window`; undefined: silence. Hold and resume may come before it. */
  listened(now: number, window: number): Taken | undefined {
    let at: number | undefined;
    for (const turn of this.#turns) {
      if (turn.kind === 'hold' || turn.kind === 'unhold') {
        at = Math.max(now, (at ?? this.#since) + (turn.after ?? THINK_MS));
        continue;
      }
      if (turn.kind !== 'press' && turn.kind !== 'say') return undefined;
      const due = at === undefined ? this.dueIn(now) : at + (turn.after ?? THINK_MS) - now;
      const delay = due ?? THINK_MS;
      return delay > window ? undefined : { turn, delay };
    }
    return undefined;
  }
}
