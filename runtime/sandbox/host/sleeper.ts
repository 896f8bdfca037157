/** A sleeping run. */
import type { RunLink } from './host-run.ts';

/** A run without a process: only its saved text exists until its next job. */
export class Sleeper implements RunLink {
  readonly #text: string;
  readonly #wake: (text: string, job: string) => void;

  /**
   * @param text the saved state of the run
   * @param wake called at most once, with the text and the job
   */
  constructor(text: string, wake: (text: string, job: string) => void) {
    this.#text = text;
    this.#wake = wake;
  }

  job(text: string): void {
    this.#wake(this.#text, text);
  }

  save(): string {
    return this.#text;
  }

  halt(): boolean {
    return false;
  }

  /** Drops the text. */
  end(): void {}
}
