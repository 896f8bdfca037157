/** Dead processes whose calls a living node has ended or adopted, and those that have left. */

export interface SettlementListener {
  /** @param by the process that took care of it; undefined when nobody had to, or nobody knows */
  settled(id: string, by: string | undefined): void;
  /** The process was not dead. */
  returned?(id: string): void;
}

export class Settlements {
  readonly #ids = new Set<string>();
  readonly #listeners: SettlementListener[] = [];

  listen(listener: SettlementListener): void {
    this.#listeners.push(listener);
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  settle(id: string, by: string | undefined): void {
    if (this.#ids.has(id)) return;
    this.#ids.add(id);
    for (const listener of this.#listeners) listener.settled(id, by);
  }

  returned(id: string): void {
    if (!this.#ids.delete(id)) return;
    for (const listener of this.#listeners) listener.returned?.(id);
  }
}
