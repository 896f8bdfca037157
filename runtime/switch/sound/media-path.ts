import type { MediaEndpoint } from '../../media/index.ts';

/** What the other side hears while one side holds the call. */
export const HOLD_MELODY = 'local_stream://moh';

/** The sound between the two sides of a dialog. */
export interface SoundPath {
  connect(): Promise<void>;
  /** One side holds the call or takes it back. */
  setHeld(by: MediaEndpoint, held: boolean): Promise<void>;
  /** Ends the melody that the side that waits hears; absent where there never is one. */
  stopMelody?(): Promise<void>;
  /** Parts the sides; their endpoints are free for other use afterwards. */
  disconnect(): Promise<void>;
}

/**
 * The sound between two endpoints: bridged, or held with a melody for the side that waits. Changes run one after the
 * other, and only the last wanted state counts.
 */
export class MediaPath implements SoundPath {
  readonly #a: MediaEndpoint;
  readonly #b: MediaEndpoint;
  readonly #held = new Set<MediaEndpoint>();
  #work: Promise<void> = Promise.resolve();
  /** True while the endpoints are not bridged because somebody holds the call. */
  #parted = false;
  #melody: { stop: AbortController; over: Promise<unknown> } | undefined;

  /** True from `stopMelody`, or from a begin without melody, to the end of the hold. */
  #silent = false;
  readonly #mayPlay: () => boolean;

  /** @param mayPlay asked once for every hold: whether there is a melody */
  constructor(a: MediaEndpoint, b: MediaEndpoint, mayPlay: () => boolean) {
    this.#mayPlay = mayPlay;
    this.#a = a;
    this.#b = b;
  }

  /** Bridges the endpoints. */
  connect(): Promise<void> {
    return this.#then(() => this.#apply());
  }

  /** One side holds the call or takes it back; with both holding, nobody hears anything. */
  setHeld(by: MediaEndpoint, held: boolean): Promise<void> {
    if (held && this.#held.size === 0) this.#silent = !this.#mayPlay();
    if (held) this.#held.add(by);
    else this.#held.delete(by);
    return this.#then(() => this.#apply());
  }

  /** Parts the endpoints; both are free for other use afterwards. */
  disconnect(): Promise<void> {
    return this.#then(async () => {
      await this.#endMelody();
      if (!this.#parted) await this.#a.unbridge(this.#b);
      this.#parted = true;
    });
  }

  /** Ends the melody of the hold that goes on; the side that waits hears nothing until it is over. */
  stopMelody(): Promise<void> {
    this.#silent = true;
    return this.#then(() => this.#endMelody());
  }

  async #apply(): Promise<void> {
    const wasHeld = this.#parted;
    await this.#endMelody();
    if (this.#held.size === 0) {
      this.#parted = false;
      await this.#a.bridge(this.#b);
      return;
    }
    if (!wasHeld) await this.#a.unbridge(this.#b);
    this.#parted = true;
    if (this.#held.size > 1 || this.#silent) return;
    const waiting = this.#held.has(this.#a) ? this.#b : this.#a;
    const stop = new AbortController();
    // Ends by the abort or with the channel; both are the end that is wanted.
    this.#melody = { stop, over: waiting.play(HOLD_MELODY, stop.signal).catch(() => undefined) };
  }

  /** Ends the melody and waits until the channel is free: a bridge must not meet a sound that is about to start. */
  async #endMelody(): Promise<void> {
    const melody = this.#melody;
    this.#melody = undefined;
    melody?.stop.abort();
    await melody?.over;
  }

  #then(step: () => Promise<void>): Promise<void> {
    const next = this.#work.then(step);
    this.#work = next.catch(() => undefined);
    return next;
  }
}
