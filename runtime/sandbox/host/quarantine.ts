/** Milliseconds for which a program that damaged a process is kept apart. */
const TERM_MS = 600_000;
const CAPACITY = 1000;

/** Programs that have to run apart from others for a while. */
export class Quarantine {
  readonly #until = new Map<string, number>();

  add(key: string, now: number): void {
    this.#until.delete(key);
    this.#until.set(key, now + TERM_MS);
    const [oldest] = this.#until.keys();
    if (this.#until.size > CAPACITY && oldest !== undefined) this.#until.delete(oldest);
  }

  has(key: string, now: number): boolean {
    const until = this.#until.get(key);
    if (until === undefined) return false;
    if (until > now) return true;
    this.#until.delete(key);
    return false;
  }
}
