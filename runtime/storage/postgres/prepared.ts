/**
 * Chooses the statements that a connection prepares (PostgreSQL manual, "PREPARE"): repeated ones, so that the server
 * parses and plans them once. Statements are identified by their text.
 */

/** Uses after which a statement is prepared. */
const WORTH_IT = 3;
/** Prepared statements per connection; each takes memory in the server. */
const MAX_PREPARED = 200;
const MAX_COUNTED = 1_000;

export class PreparedStatements {
  readonly #uses = new Map<string, number>();
  readonly #names = new Map<string, string>();

  /** Name for preparing the statement; undefined: do not prepare it now. */
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

  /** The connection has to be closed: that is the only way to forget its statements. */
  get isFull(): boolean {
    return this.#names.size >= MAX_PREPARED;
  }
}
