/** Numbers of programs. */
import type { ScriptModule, ScriptSource } from '../sandbox.ts';

/** A source with its number in the workers. */
export interface NumberedProgram extends ScriptSource {
  readonly id: number;
  /** Key shared with the other sources of its version and file. */
  readonly key: string;
}

/** Numbers the programs, so that a source is sent to a worker once. The least recently used one is dropped. */
export class Programs {
  readonly #capacity: number;
  readonly #forgotten: (program: NumberedProgram) => void;
  readonly #programs = new Map<string, NumberedProgram>();
  #lastId = 0;

  constructor(capacity: number, forgotten: (program: NumberedProgram) => void) {
    this.#capacity = capacity;
    this.#forgotten = forgotten;
  }

  /** A version may have several sources: a scenario has one per script block. */
  find(version: string, { source, format, kind, file, line = 1, modules }: ScriptSource): NumberedProgram {
    const key = JSON.stringify([version, kind, format, file]);
    const place = `${line} ${key} ${source}${textOf(modules)}`;
    const known = this.#programs.get(place);
    if (known) {
      // Inserted again, so that the first entry is the least recently used.
      this.#programs.delete(place);
      this.#programs.set(place, known);
      return known;
    }
    const program = { id: ++this.#lastId, key, source, format, kind, file, line, modules };
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

const texts = new WeakMap<readonly ScriptModule[], string>();

/** The modules as a text, made once for all runs of a program. */
function textOf(modules: readonly ScriptModule[] | undefined): string {
  if (modules === undefined || modules.length === 0) return '';
  const known = texts.get(modules) ?? JSON.stringify(modules);
  texts.set(modules, known);
  return known;
}
