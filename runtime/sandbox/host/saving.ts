/** The state of a waiting run, which its process is asked for. */
import type { RepetitionLimit } from '../repetition.ts';

/** Milliseconds to wait for the answer of the process. */
const LATE_MS = 1000;

export class Saving {
  readonly #answer = Promise.withResolvers<{ readonly given: string } | RepetitionLimit | undefined>();
  readonly #late = setTimeout(() => this.end(), LATE_MS);

  /** The state, or the limit above which the run is not repeated; undefined: it works, or its process does not answer. */
  get answer(): Promise<{ readonly given: string } | RepetitionLimit | undefined> {
    return this.#answer.promise;
  }

  /** @param given the state of the run; empty: it works at present */
  saved(given: string, exceeded?: RepetitionLimit): void {
    clearTimeout(this.#late);
    this.#answer.resolve(exceeded ?? (given === '' ? undefined : { given }));
  }

  /** The run is over, or its process late. */
  end(): void {
    this.saved('');
  }
}
