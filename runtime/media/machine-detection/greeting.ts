/** Tells a person from an answering machine by the rhythm of the greeting, as Asterisk's application AMD does. */

/** Limits, in milliseconds where nothing else is said. They have the names and meanings of Asterisk's `amd.conf`. */
export interface GreetingLimits {
  /** Silence at the beginning that a machine makes. */
  readonly initialSilenceMs: number;
  /** Speech that is too long for a person's greeting. */
  readonly greetingMs: number;
  /** Silence after a greeting: a person waits for an answer. */
  readonly afterGreetingSilenceMs: number;
  readonly totalMs: number;
  /** Shorter sounds are no words. */
  readonly minWordMs: number;
  /** A longer sound without a pause is a machine's. */
  readonly maxWordMs: number;
  /** Silence that parts two words. */
  readonly betweenWordsMs: number;
  /** More words are a machine's. */
  readonly maxWords: number;
  /** Mean amplitude of 16-bit samples, above which a frame counts as sound. */
  readonly silenceThreshold: number;
}

/** What decided. `beep`: a tone of a machine or a fax. */
export type MachineCause =
  | 'short_greeting'
  | 'initial_silence'
  | 'long_greeting'
  | 'many_words'
  | 'long_word'
  | 'beep'
  | 'total_time';

export interface Decision {
  readonly result: 'human' | 'machine' | 'unsure';
  readonly cause: MachineCause;
}

/** Follows the greeting, one frame at a time. */
export class GreetingAnalysis {
  readonly #limits: GreetingLimits;
  #totalMs = 0;
  #silenceMs = 0;
  #voiceMs = 0;
  #wordMs = 0;
  #words = 0;
  #inWord = false;
  #begun = false;
  #leadMs = 0;

  constructor(limits: GreetingLimits) {
    this.#limits = limits;
  }

  /** Words so far. */
  get words(): number {
    return this.#words;
  }

  /** Milliseconds of sound so far. */
  get voiceMs(): number {
    return this.#voiceMs;
  }

  /** Milliseconds before the first word. */
  get leadMs(): number {
    return this.#leadMs;
  }

  /** @returns the decision, with the frame that makes it */
  frame(loud: boolean, frameMs: number): Decision | undefined {
    this.#totalMs += frameMs;
    const decision = loud ? this.#sound(frameMs) : this.#silence(frameMs);
    if (!this.#begun && !loud) this.#leadMs = this.#totalMs;
    if (decision !== undefined || this.#totalMs < this.#limits.totalMs) return decision;
    return { result: 'unsure', cause: 'total_time' };
  }

  #silence(frameMs: number): Decision | undefined {
    const { initialSilenceMs, afterGreetingSilenceMs, betweenWordsMs } = this.#limits;
    this.#silenceMs += frameMs;
    if (this.#silenceMs >= betweenWordsMs) {
      this.#inWord = false;
      this.#wordMs = 0;
    }
    if (!this.#begun && this.#silenceMs >= initialSilenceMs) return { result: 'machine', cause: 'initial_silence' };
    const waits = this.#begun && this.#silenceMs >= afterGreetingSilenceMs;
    return waits ? { result: 'human', cause: 'short_greeting' } : undefined;
  }

  #sound(frameMs: number): Decision | undefined {
    const { greetingMs, minWordMs, maxWordMs, maxWords } = this.#limits;
    this.#wordMs += frameMs;
    this.#voiceMs += frameMs;
    if (this.#wordMs >= minWordMs) {
      if (!this.#inWord) this.#words += 1;
      if (!this.#begun) this.#leadMs = this.#totalMs - this.#wordMs;
      this.#inWord = true;
      this.#begun = true;
    }
    // A click does not end the silence at the beginning.
    if (this.#begun) this.#silenceMs = 0;
    if (this.#wordMs >= maxWordMs) return { result: 'machine', cause: 'long_word' };
    if (this.#words > maxWords) return { result: 'machine', cause: 'many_words' };
    if (this.#begun && this.#voiceMs >= greetingMs) return { result: 'machine', cause: 'long_greeting' };
    return undefined;
  }
}
