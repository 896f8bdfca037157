/**
 * Which statements a connection prepares (PostgreSQL manual, "PREPARE"): those it is asked for again and again, so that
 * the server parses and plans them once. Statements are known by their text.
 */

/** Uses after which a statement is worth it. */
const WORTH_IT = 3;
/** Statements of one connection; each takes memory in the server. */
const MAX_PREPARED = 200;
const MAX_COUNTED = 1_000;

export class PreparedStatements {
  readonly #uses = new Map<string, number>();
  readonly #names = new Map<string, string>();

  /** Name to prepare the statement under; undefined: not this time. */
  nameOf(text: string): string | undefined {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    const uses = (this.#uses.get(text) ?? 0) + 1;
    if (uses < WORTH_IT) {
      if (this.#uses.size >= MAX_COUNTED) this.#uses.clear();
      this.#uses.set(text, uses);
      return undefined;
    }
    this.#uses.delete(text);
    const name = `s${this.#names.size + 1}`;
    this.#names.set(text, name);
    return name;
  }

  /** The connection has to be given up: there is no other way to forget statements one by one. */
  get isFull(): boolean {
    return this.#names.size >= MAX_PREPARED;
  }
}
