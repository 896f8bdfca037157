/** The sound between the two sides of a dialog. */
import type { MediaEndpoint } from '../../media/index.ts';

/** What the other side hears while one side holds the call. */
export const HOLD_MELODY = 'local_stream://moh';

/** The sound between the two sides of a dialog. */
export interface SoundPath {
  connect(): Promise<void>;
  /** One side holds or resumes the call. */
  setHeld(by: MediaEndpoint, held: boolean): Promise<void>;
  /** Ends the hold melody; absent on a path without one. */
  stopMelody?(): Promise<void>;
  /** Disconnects the sides. Their endpoints are free for other use afterwards. */
  disconnect(): Promise<void>;
}

/**
 * The sound between two endpoints: bridged, or on hold with a melody for the waiting side. Changes run one after the
 * other, and each applies the latest wanted state.
 */
export class MediaPath implements SoundPath {
  readonly #a: MediaEndpoint;
  readonly #b: MediaEndpoint;
  readonly #held = new Set<MediaEndpoint>();
  #work: Promise<void> = Promise.resolve();
  /** True while the endpoints are not bridged: at first, during a hold, and after `disconnect`. */
  #parted = true;
  #melody: { stop: AbortController; over: Promise<unknown> } | undefined;

  /** True until the end of a hold whose melody was stopped or never played. */
  #silent = false;
  readonly #mayPlay: () => boolean;

  /** @param mayPlay asked once per hold whether the melody plays */
  constructor(a: MediaEndpoint, b: MediaEndpoint, mayPlay: () => boolean) {
    this.#mayPlay = mayPlay;
    this.#a = a;
    this.#b = b;
  }

  /** Bridges the endpoints. */
  connect(): Promise<void> {
    return this.#inTurn(() => this.#apply());
  }

  /** One side holds or resumes the call. When both hold it, neither hears anything. */
  setHeld(by: MediaEndpoint, held: boolean): Promise<void> {
    if (held && this.#held.size === 0) this.#silent = !this.#mayPlay();
    if (held) this.#held.add(by);
    else this.#held.delete(by);
    return this.#inTurn(() => this.#apply());
  }

  /** Disconnects the endpoints. Both are free for other use afterwards. */
  disconnect(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#endMelody();
      if (!this.#parted) await this.#a.unbridge(this.#b);
      this.#parted = true;
    });
  }

  /** Ends the melody of the current hold. The waiting side hears silence until the hold ends. */
  stopMelody(): Promise<void> {
    this.#silent = true;
    return this.#inTurn(() => this.#endMelody());
  }

  async #apply(): Promise<void> {
    const isFree = this.#parted;
    await this.#endMelody();
    if (this.#held.size === 0) {
      this.#parted = false;
      await this.#a.bridge(this.#b);
      return;
    }
    if (!isFree) await this.#a.unbridge(this.#b);
    this.#parted = true;
    // Resumed meanwhile: the next turn bridges.
    if (this.#held.size !== 1 || this.#silent) return;
    const waiting = this.#held.has(this.#a) ? this.#b : this.#a;
    const stop = new AbortController();
    // It rejects on the abort and with the end of the channel. Both are wanted ends.
    this.#melody = { stop, over: waiting.play(HOLD_MELODY, stop.signal).catch(() => undefined) };
  }

  /** Ends the melody and waits until the channel is free: no sound may start after the bridge. */
  async #endMelody(): Promise<void> {
    const melody = this.#melody;
    this.#melody = undefined;
    melody?.stop.abort();
    await melody?.over;
  }

  #inTurn(step: () => Promise<void>): Promise<void> {
    const next = this.#work.then(step);
    this.#work = next.catch(() => undefined);
    return next;
  }
}
