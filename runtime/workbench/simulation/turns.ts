/** What the other party of a simulated call does, one thing after another. Times are milliseconds. */
export type Turn =
  /** Presses keys: when it is listened to, or `after` the turn before. */
  | { readonly kind: 'press'; readonly digits: string; readonly after?: number }
  /** Says something when it is listened to. */
  | { readonly kind: 'say'; readonly text: string; readonly after?: number }
  /** Does nothing the next time it is listened to. */
  | { readonly kind: 'silence' }
  /** Does nothing more until a sound of this name is played. */
  | { readonly kind: 'hear'; readonly sound: string }
  /** Happen by themselves, `after` the turn before. */
  | { readonly kind: 'hang_up' | 'hold' | 'unhold'; readonly after?: number };

/** A turn taken when the other party is listened to, and how long it takes until then. */
export interface Taken {
  readonly turn: Extract<Turn, { kind: 'press' | 'say' }>;
  readonly delay: number;
}

/** How long the other party thinks before it does something. */
export const THINK_MS = 200;

/** Keeps the turns that are still to come. */
export class Turns {
  readonly #turns: Turn[];
  /** Keys that were pressed and that nobody has heard. */
  #ahead = '';
  /** When the latest turn was done. */
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

  /** Keys typed ahead; whoever calls has them. */
  takeAhead(max: number): string {
    const taken = this.#ahead.slice(0, max);
    this.#ahead = this.#ahead.slice(max);
    return taken;
  }

  /** The next turn is done, or time for it begins. */
  started(now: number): void {
    this.#since = now;
  }

  done(now: number): void {
    this.#turns.shift();
    this.#since = now;
  }

  /** Digits of the next turn were used up; what is left of them is typed ahead. */
  pressed(count: number, now: number): void {
    const { next } = this;
    if (next?.kind !== 'press') return;
    this.#ahead += next.digits.slice(count);
    this.done(now);
  }

  /** A sound is played. */
  heard(sound: string, now: number): void {
    const { next } = this;
    if (next?.kind === 'hear' && next.sound === sound) this.done(now);
  }

  /** Whether the next turn comes at a time of its own, listened to or not. */
  get isTimed(): boolean {
    const { next } = this;
    return next?.kind === 'press' && next.after !== undefined;
  }

  /** Milliseconds until the next turn happens by itself; undefined when it waits for something. */
  dueIn(now: number): number | undefined {
    const { next } = this;
    if (next === undefined || next.kind === 'hear' || next.kind === 'silence') return undefined;
    const waits = next.kind === 'press' || next.kind === 'say';
    if (next.after === undefined && waits) return undefined;
    return Math.max(0, this.#since + (next.after ?? THINK_MS) - now);
  }

  /** What the other party does when it is listened to for `window` at most; undefined: nothing. */
  listened(now: number, window: number): Taken | undefined {
    const { next } = this;
    if (next?.kind !== 'press' && next?.kind !== 'say') return undefined;
    const delay = this.dueIn(now) ?? THINK_MS;
    return delay > window ? undefined : { turn: next, delay };
  }
}
