/** Compiles the text of a script entity to a program. */
import path from 'node:path';
import type { CompileResult, ScriptSource } from '../sandbox/index.ts';
import { checkText, type Problem, type Program, type Start } from '../language/index.ts';
import type { ComponentRegistry } from '../runs/index.ts';
import type { CheckScript, ScriptData, ScriptProblem } from '../domain/index.ts';

export interface CompilerOptions {
  readonly components: ComponentRegistry;
  /** Checks modules and scripts for mistakes (`Sandbox.compile`). */
  readonly compile: (source: ScriptSource) => Promise<CompileResult>;
  /** Folder of the scripts' prompts. */
  readonly promptsFolder: string;
}

/** The text of a script, with its code. */
export interface ScriptText {
  readonly code: string;
  readonly data: ScriptData;
}

const HOOK: Start = { kind: 'hook', domain: undefined, args: {} };

export class ScriptCompiler {
  readonly #options: CompilerOptions;

  constructor(options: CompilerOptions) {
    this.#options = options;
  }

  /** Checks for mistakes; runs nothing. */
  readonly check: CheckScript = async (code, data) => {
    const { problems } = await this.#check({ code, data });
    return problems.map(withoutFile);
  };

  /**
   * The program of a version; undefined when it has mistakes.
   *
   * @param number of the version, which traces show
   * @param hook true when a request may start it without a hook in its text
   */
  async program(text: ScriptText, { number, hook }: { number: number; hook: boolean }): Promise<Program | undefined> {
    const { program } = await this.#check(text);
    if (program === undefined) return undefined;
    const { starts = [] } = program;
    const isClosed = hook && !starts.some(({ kind }) => kind === 'hook');
    return {
      ...program,
      version: String(number),
      hash: program.version,
      starts: isClosed ? [...starts, HOOK] : starts,
    };
  }

  async #check({ code, data }: ScriptText) {
    const { components, compile, promptsFolder } = this.#options;
    const file = `${code}.${data.format}`;
    return await checkText(data.source, { file, id: code, components, compile, promptsFolder });
  }
}

/** The problems of a file in the form of those of a script. */
export function withoutFile({ file: _file, ...problem }: Problem): ScriptProblem {
  return problem;
}

/** The folder of a scenario folder's prompts. */
export function promptsOf(scenarioFolder: string): string {
  return path.join(scenarioFolder, 'prompts');
}
