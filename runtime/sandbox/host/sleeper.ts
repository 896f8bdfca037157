/** A sleeping run. */
import type { RunLink } from './host-run.ts';

/** A run without a process: only its saved text exists until its next job. */
export class Sleeper implements RunLink {
  readonly #text: string;
  readonly #wake: (text: string, job: string) => void;

  /**
   * @param text what is left of the run
   * @param wake called once at most, with it and with what the run is told
   */
  constructor(text: string, wake: (text: string, job: string) => void) {
    this.#text = text;
    this.#wake = wake;
  }

  job(text: string): void {
    this.#wake(this.#text, text);
  }

  halt(): boolean {
    return false;
  }

  /** Drops the text. */
  end(): void {}
}
