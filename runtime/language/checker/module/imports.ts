/** Follows the imports of a module: reads and checks the files that it shares with other scenarios. */
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Literal, type Program as Tree, parse } from 'acorn';
import type { CompileResult, ScriptModule, ScriptSource } from '../../../sandbox/index.ts';
import type { ComponentDefinitions } from '../../component.ts';
import { isModuleScenario } from '../../files.ts';
import { methods } from '../../method.ts';
import { nearest } from '../../../words/index.ts';
import { type Problem, suggestName } from '../../problem.ts';
import type { ScenarioReference } from '../names/references.ts';
import { namesIn } from '../names/scopes.ts';
import { compileProblems } from '../scripts/compile-problems.ts';
import { Source } from '../text/source.ts';
import { checkModuleCalls } from './calls.ts';
import { exportsOf, importsOf } from './import-statements.ts';
import { checkModuleNames } from './names.ts';

/** The largest module, in characters. */
export const MAX_LENGTH = 131_072;
/** Limits of what one scenario imports, in all. */
const MAX_MODULES = 50;
const MAX_CHARACTERS = 524_288;

/** A file that can be imported, or the reason why it cannot. */
export type ModuleText =
  | { readonly kind: 'text'; readonly text: string }
  /** @property instead what to do, where no similar name is among `others` */
  | { readonly kind: 'missing'; readonly others: readonly string[]; readonly instead?: string | undefined }
  | { readonly kind: 'too_long'; readonly bytes: number };

/** Reads a module of the scenario's own folder. @param name of the file, without a folder */
export type ReadModule = (name: string) => Promise<ModuleText>;

/** Reads the modules beside a scenario file. @param listOthers names of files for suggestions */
export function modulesBeside(file: string, listOthers: (folder: string) => Promise<readonly string[]>): ReadModule {
  const folder = path.dirname(path.resolve(file));
  return async (name) => {
    try {
      const found = await stat(path.join(folder, name));
      if (!found.isFile()) return { kind: 'missing', others: await listOthers(folder) };
      // A character has at most three bytes for each of its 16-bit units.
      if (found.size > 3 * MAX_LENGTH) return { kind: 'too_long', bytes: found.size };
      return { kind: 'text', text: (await readFile(path.join(folder, name), 'utf8')).replace(/^\uFEFF/, '') };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return { kind: 'missing', others: await listOthers(folder) };
    }
  };
}

export interface ImportOptions {
  readonly file: string;
  readonly components: ComponentDefinitions;
  readonly promptsFolder: string;
  readonly readModule: ReadModule;
  readonly compile?: ((source: ScriptSource) => Promise<CompileResult>) | undefined;
}

export interface Imported {
  /** Every module that the scenario imports, directly or not, in order of their names. */
  readonly modules: readonly ScriptModule[];
  /** Mistakes in the modules, with their files. */
  readonly problems: readonly Problem[];
  readonly references: readonly ScenarioReference[];
}

/** A module that was read. */
interface Read {
  readonly source: Source;
  readonly tree: Tree | undefined;
  readonly text: string;
}

/**
 * Follows the imports of a scenario.
 * @param source of the scenario, which gets the mistakes in its own imports
 * @param code of the scenario without types
 */
export async function followImports(source: Source, code: string, options: ImportOptions): Promise<Imported> {
  return await new ImportReader(options).follow(source, code);
}

class ImportReader {
  readonly #options: ImportOptions;
  readonly #read = new Map<string, Read>();
  readonly #problems: Problem[] = [];
  readonly #references: ScenarioReference[] = [];
  #characters = 0;

  constructor(options: ImportOptions) {
    this.#options = options;
  }

  async follow(source: Source, code: string): Promise<Imported> {
    const main = path.basename(this.#options.file);
    this.#read.set(main, { source, tree: treeOf(code), text: code });
    // The map grows while it is walked: each module is followed once, so that a circle ends.
    for (const read of this.#read.values()) await this.#followOne(read);
    for (const read of this.#read.values()) this.#checkNames(read);
    const modules = [...this.#read]
      .filter(([name]) => name !== main)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(
        ([
          name,
          {
            text,
            source: { file },
          },
        ]) => ({
          specifier: `./${name}`,
          source: text,
          format: name.endsWith('.ts') ? ('ts' as const) : ('js' as const),
          file,
        }),
      );
    const found = [...this.#read].filter(([name]) => name !== main).flatMap(([, read]) => read.source.problems);
    return { modules, problems: [...this.#problems, ...found], references: this.#references };
  }

  async #followOne({ source, tree }: Read): Promise<void> {
    if (tree === undefined) return;
    for (const { specifier, isDynamic } of importsOf(tree)) {
      const name = typeof specifier?.value === 'string' ? nameIn(specifier.value) : undefined;
      if (isDynamic)
        source.problemAt(specifier?.start ?? 0, 'import(...) is not possible', 'write import at the top of the file');
      else if (specifier !== undefined && name === undefined) refuse(source, specifier);
      else if (specifier !== undefined && name !== undefined && !this.#read.has(name)) {
        if (!(await this.#open(source, specifier, name))) return;
      }
    }
  }

  /** @returns false when the scenario imports too much */
  async #open(importer: Source, { start }: Literal, name: string): Promise<boolean> {
    const { readModule, components, file, promptsFolder, compile } = this.#options;
    if (this.#read.size > MAX_MODULES) {
      importer.problemAt(start, `the scenario imports more than ${MAX_MODULES} modules`, 'put several into one file');
      return false;
    }
    const found = await readModule(name);
    if (found.kind === 'missing') {
      const suggestion = nearest(name, found.others)
        ? suggestName(name, found.others)
        : (found.instead ?? suggestName(name, found.others) ?? 'put it beside the scenario');
      importer.problemAt(start, `there is no module "${name}"`, suggestion);
      return true;
    }
    const length = found.kind === 'too_long' ? found.bytes : found.text.length;
    if (found.kind === 'too_long' || length > MAX_LENGTH) {
      importer.problemAt(start, `the module "${name}" has ${length} characters`, `keep it below ${MAX_LENGTH}`);
      return true;
    }
    this.#characters += length;
    if (this.#characters > MAX_CHARACTERS) {
      importer.problemAt(start, `the modules of this scenario have more than ${MAX_CHARACTERS} characters`);
      return false;
    }
    const { text } = found;
    const own = path.join(path.dirname(file), name);
    const source = new Source(text, own);
    const asked = { source: text, format: name.endsWith('.ts') ? 'ts' : 'js', kind: 'module', file: own } as const;
    const compiled: CompileResult = (await compile?.(asked)) ?? { ok: true, code: text };
    if (!compiled.ok && compile)
      for (const problem of await compileProblems(asked, compiled.problems, compile))
        this.#problems.push({ ...problem, file: own });
    const tree = compiled.ok ? treeOf(compiled.code) : undefined;
    this.#read.set(name, { source, tree, text });
    if (tree === undefined) return true;
    const names = namesIn(tree);
    const known = [...methods(components).keys()];
    checkModuleNames(tree, names, { functions: known, mayImport: true, isShared: true }, source.problemAt.bind(source));
    this.#references.push(...checkModuleCalls(tree, { source, components, promptsFolder, names, call: undefined }));
    return true;
  }

  /** Notes imported names that the module does not export. */
  #checkNames({ source, tree }: Read): void {
    if (tree === undefined) return;
    for (const { specifier, names } of importsOf(tree)) {
      const module = typeof specifier?.value === 'string' ? nameIn(specifier.value) : undefined;
      const exported = module === undefined ? undefined : this.#exports(module);
      if (exported === undefined) continue;
      for (const { name, start } of names) {
        if (exported.has(name)) continue;
        const near = suggestName(name, [...exported]);
        source.problemAt(
          start,
          `${module} exports no "${name}"`,
          near ?? 'export it there; for a type write import type { ... }',
        );
      }
    }
  }

  /** The exported names of a module; undefined when some are unknown. */
  #exports(name: string, above: ReadonlySet<string> = new Set()): ReadonlySet<string> | undefined {
    const tree = this.#read.get(name)?.tree;
    if (tree === undefined) return undefined;
    const { names, all } = exportsOf(tree);
    const found = new Set(names);
    for (const specifier of all) {
      const from = nameIn(specifier);
      if (from === undefined || above.has(from)) continue;
      const more = this.#exports(from, new Set([...above, name]));
      if (more === undefined) return undefined;
      for (const each of more) if (each !== 'default') found.add(each);
    }
    return found;
  }
}

/** The file that an import names; undefined outside of the scenario's folder. */
function nameIn(specifier: string): string | undefined {
  const [, name] = /^\.\/([A-Za-z0-9_][\w.-]*)$/.exec(specifier) ?? [];
  return name !== undefined && isModuleScenario(name) ? name : undefined;
}

function refuse(source: Source, { start, value }: Literal): void {
  const specifier = String(value);
  const isBare = /^\.\/[A-Za-z0-9_][\w-]*$/.test(specifier);
  const suggestion = isBare
    ? `write "${specifier}.ts", with the extension`
    : 'a scenario imports .ts and .js files of its own folder, a script those of its domain, as "./NAME.ts"';
  source.problemAt(start, `"${specifier}" cannot be imported`, suggestion);
}

/** Undefined for code that only V8 can parse. */
function treeOf(code: string): Tree | undefined {
  try {
    return parse(code, { ecmaVersion: 'latest', sourceType: 'module' });
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}
