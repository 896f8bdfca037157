/** Options and results of answering-machine detection. */

/** Limits in milliseconds where nothing else is said, by the names of Asterisk's `amd.conf`. */
export interface MachineOptions {
  readonly signal: AbortSignal;
  readonly initialSilenceMs: number;
  readonly greetingMs: number;
  readonly afterGreetingSilenceMs: number;
  readonly totalMs: number;
  readonly minWordMs: number;
  readonly maxWordMs: number;
  readonly betweenWordsMs: number;
  readonly maxWords: number;
  /** Mean amplitude of 16-bit samples, above which the line is not silent. */
  readonly silenceThreshold: number;
  /** Present: waits for the end of a machine's greeting, at most so many milliseconds after the decision. */
  readonly endMs: number | undefined;
  /** Milliseconds of silence that end a greeting without a beep. */
  readonly endSilenceMs: number;
}

export interface MachineResult {
  readonly result: 'human' | 'machine' | 'unsure';
  readonly cause:
    | 'short_greeting'
    | 'initial_silence'
    | 'long_greeting'
    | 'many_words'
    | 'long_word'
    | 'beep'
    | 'total_time';
  /** How the greeting of a machine ended; undefined where that was not waited for. */
  readonly end: 'beep' | 'silence' | 'timeout' | undefined;
  /** Milliseconds from the beginning to this result. */
  readonly milliseconds: number;
  /** Milliseconds of silence before the first word. */
  readonly silenceMs: number;
  /** Milliseconds of sound until the decision. */
  readonly greetingMs: number;
  /** Words until the decision. */
  readonly words: number;
}
