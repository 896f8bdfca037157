import type { ScriptSource } from '../sandbox.ts';

/** A source under the number by which workers know it. */
export interface NumberedProgram extends ScriptSource {
  readonly id: number;
  /** What it shares with the other sources of its version and file. */
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

  /** A version may have several sources: a scenario has as many as it has script blocks. */
  find(version: string, { source, format, kind, file, line = 1 }: ScriptSource): NumberedProgram {
    const key = JSON.stringify([version, kind, format, file]);
    const place = `${line} ${key} ${source}`;
    const known = this.#programs.get(place);
    if (known) {
      // Put last again, for the first is the next to be forgotten.
      this.#programs.delete(place);
      this.#programs.set(place, known);
      return known;
    }
    const program = { id: ++this.#lastId, key, source, format, kind, file, line };
    this.#programs.set(place, program);
    if (this.#programs.size > this.#capacity) this.#forgetOldest();
    return program;
  }

  #forgetOldest(): void {
    const [oldest] = this.#programs;
    if (!oldest) return;
    const [place, program] = oldest;
    this.#programs.delete(place);
    this.#forgotten(program);
  }
}
