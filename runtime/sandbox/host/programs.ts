import type { ScriptSource } from '../sandbox.ts';

/** A source under the number by which workers know it. */
export interface NumberedProgram extends ScriptSource {
  readonly id: number;
  /** What it was found by. */
  readonly key: string;
}

/** Numbers the programs, so that a source goes to a worker once. The one used longest ago is forgotten. */
export class Programs {
  readonly #capacity: number;
  readonly #forgotten: (program: NumberedProgram) => void;
  readonly #programs = new Map<string, NumberedProgram>();
  #lastId = 0;

  constructor(capacity: number, forgotten: (program: NumberedProgram) => void) {
    this.#capacity = capacity;
    this.#forgotten = forgotten;
  }

  /** A version that comes with another source than before is another program. */
  find(version: string, { source, format, kind, file }: ScriptSource): NumberedProgram {
    const key = JSON.stringify([version, kind, format, file]);
    const known = this.#programs.get(key);
    if (known?.source === source) {
      // Put last again, for the first is the next to be forgotten.
      this.#programs.delete(key);
      this.#programs.set(key, known);
      return known;
    }
    if (known) this.#forget(known);
    const program = { id: ++this.#lastId, key, source, format, kind, file };
    this.#programs.set(key, program);
    if (this.#programs.size > this.#capacity) this.#forgetOldest();
    return program;
  }

  #forgetOldest(): void {
    const [oldest] = this.#programs.values();
    if (oldest) this.#forget(oldest);
  }

  #forget(program: NumberedProgram): void {
    this.#programs.delete(program.key);
    this.#forgotten(program);
  }
}
