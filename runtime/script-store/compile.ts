/** Compiles the text of a script entity to a program. */
import path from 'node:path';
import type { CompileResult, ScriptSource } from '../sandbox/index.ts';
import {
  type CheckResult,
  checkText,
  type Problem,
  type Program,
  type ReadModule,
  type Start,
} from '../language/index.ts';
import type { ComponentRegistry } from '../runs/index.ts';
import type { CheckScript, ScriptData, ScriptModules, ScriptProblem } from '../domain/index.ts';

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
  readonly check: CheckScript = async (code, data, modules) => {
    const imports = new Map<string, string | undefined>();
    const { problems } = await this.read(
      { code, data },
      {
        async find(name) {
          const found = await modules.find(name);
          imports.set(name, 'text' in found ? found.text : undefined);
          return found;
        },
      },
    );
    return { problems: problems.map((problem) => ofScript(problem, code, data)), imports };
  };

  /** The program of a text, or what can be read of it, with its mistakes. */
  read(text: ScriptText, modules: ScriptModules): Promise<CheckResult> {
    return this.#check(text, async (name) => {
      const found = await modules.find(name);
      return 'text' in found ? { kind: 'text', ...found } : { kind: 'missing', ...found };
    });
  }

  /** The code of a module without its types, every position unchanged; undefined for one with mistakes. */
  async plainCode({ code, data: { format, source } }: ScriptText): Promise<string | undefined> {
    if (format === 'yaml') return undefined;
    const compiled = await this.#options.compile({ source, format, kind: 'module', file: `${code}.${format}` });
    return compiled.ok ? compiled.code : undefined;
  }

  /**
   * The program of a version; undefined when it has mistakes, `shared` when it is a module that only others import.
   *
   * @param modules texts of what it imports, by name
   * @param number of the version, which traces show
   * @param hook true when a request may start it without a hook in its text
   */
  async program(
    text: ScriptText,
    modules: ReadonlyMap<string, string>,
    { number, hook }: { number: number; hook: boolean },
  ): Promise<Program | 'shared' | undefined> {
    const { program, shared = false } = await this.#check(text, async (name) => {
      const source = modules.get(name);
      return source === undefined ? { kind: 'missing', others: [...modules.keys()] } : { kind: 'text', text: source };
    });
    if (shared) return 'shared';
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

  async #check({ code, data }: ScriptText, readModule: ReadModule) {
    const { components, compile, promptsFolder } = this.#options;
    const file = `${code}.${data.format}`;
    return await checkText(data.source, { file, id: code, components, compile, promptsFolder, readModule });
  }
}

/** A problem of a script, or of a module that it imports. */
function ofScript({ file, ...problem }: Problem, code: string, { format }: ScriptData): ScriptProblem {
  return file === `${code}.${format}` ? problem : { file, ...problem };
}

/** The problems of a file in the form of those of a script. */
export function withoutFile({ file: _file, ...problem }: Problem): ScriptProblem {
  return problem;
}

/** The folder of a scenario folder's prompts. */
export function promptsOf(scenarioFolder: string): string {
  return path.join(scenarioFolder, 'prompts');
}
