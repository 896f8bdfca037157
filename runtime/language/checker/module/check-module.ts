/** Checks a scenario that is a JavaScript or TypeScript module, and compiles it to a program. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { type AnyNode, type Expression, type Program as Tree, parse } from 'acorn';
import { type Node, isMap, isScalar, isSeq } from 'yaml';
import type { CompileResult, ScriptFormat, ScriptModule, ScriptProblem, ScriptSource } from '../../../sandbox/index.ts';
import type { ComponentDefinitions } from '../../component.ts';
import { nearest } from '../../../words/index.ts';
import type { LimitsWanted } from '../../limits.ts';
import { CALL_INFO, SCENARIO_INFO, methods } from '../../method.ts';
import { isMistake } from '../../problem.ts';
import type { Parameter, Program, Start } from '../../program.ts';
import { namedSecrets } from '../../secret-names.ts';
import { NO_DEFAULT, TOO_DEEP, compileProblems } from '../scripts/compile-problems.ts';
import { type CheckResult, limitsOf, fallbackOf, languageOf } from '../check-scenario.ts';
import { DeclarationReader } from '../names/declarations.ts';
import { checkModuleCalls } from './calls.ts';
import { isShared } from './import-statements.ts';
import { MAX_LENGTH, type ReadModule, followImports } from './imports.ts';
import { checkModuleNames } from './names.ts';
import { literalNode, unknownNode } from './literals.ts';
import { defaultExport, exportedValues } from './walk.ts';
import { Names } from '../names/names.ts';
import { namesIn } from '../names/scopes.ts';
import { type Recovered, recover } from '../flow/recovery.ts';
import { type ScenarioReference, fallbackReference } from '../names/references.ts';
import { type Entry, Source, scalarText } from '../text/source.ts';
import { readStarts } from '../blocks/starts.ts';

const MODULE_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

export interface ModuleCheckOptions {
  readonly file: string;
  readonly components: ComponentDefinitions;
  /** The folder of prompts; default: `prompts/` beside the file. */
  readonly promptsFolder?: string;
  /** The id of a scenario that is not a file. */
  readonly id?: string;
  /** Compiles the source without running it; without it, syntax errors show at run time. */
  readonly compile?: (source: ScriptSource) => Promise<CompileResult>;
  /** Reads what a module imports; without it, modules import nothing. */
  readonly readModule?: ReadModule;
}

/** Exports that the checker reads before the module runs. */
const DECLARED = ['name', 'description', 'parameters', 'starts', 'limits', 'fallback', 'language'];
/** Suggestions for sections of YAML scenarios that modules do not have. */
const OF_YAML: ReadonlyMap<string, string> = new Map([
  ['id', 'the id is the name of the file, or the code of the script'],
  ['variables', 'write let NAME = ... in the function'],
  ['start', 'the function is the start; what starts the module is "starts"'],
  ['on', 'write events.on(...) in the function'],
  ...['schedule', 'hook', 'event'].map((name) => [name, `write export const starts = { ${name}: ... }`] as const),
  ['blocks', 'write await call.answer() and so on in the function'],
]);

/** Declarations of a module by `export const NAME = ...`, read without running it. */
interface Declared {
  readonly parameters: readonly Parameter[];
  readonly declaresParameters: boolean;
  readonly starts: readonly Start[];
  readonly limits?: LimitsWanted;
  readonly fallback?: string;
  readonly language?: string;
  readonly name?: string;
  readonly description?: string;
}

/** Checks a `.js` or `.ts` module; its id is the name of the file. */
export async function checkModule(
  text: string,
  { file, components, compile, readModule, ...given }: ModuleCheckOptions,
): Promise<CheckResult> {
  const format: ScriptFormat = file.endsWith('.ts') ? 'ts' : 'js';
  const id = given.id ?? path.basename(file).replace(/\.[jt]s$/, '');
  const promptsFolder = given.promptsFolder ?? path.join(path.dirname(path.resolve(file)), 'prompts');
  const source = new Source(text, file);
  if (!MODULE_ID.test(id))
    source.problem(null, `"${id}" cannot be an id`, 'use letters, digits, _ . - in the name of the file');
  const asked = { source: text, format, kind: 'module', file } as const;
  const compiled: CompileResult =
    text.length > MAX_LENGTH
      ? { ok: false, problems: [tooLong(text.length)] }
      : ((await compile?.(asked)) ?? { ok: true, code: text });
  const options = { id, components, promptsFolder, mayImport: readModule !== undefined };
  const { declared, references, shared } = read(source, compiled.code, options);
  const imported =
    readModule && compiled.ok
      ? await followImports(source, compiled.code, { file, components, promptsFolder, readModule, compile })
      : NO_IMPORTS;
  const found = compiled.ok ? [] : compiled.problems;
  const isLong = text.length > MAX_LENGTH;
  const recovered = compile && !compiled.ok && !isLong ? await recover(asked, found, compile) : undefined;
  const broken = compile ? await compileProblems(asked, recovered?.problems ?? found, compile) : found;
  if (recovered) readOn(source, recovered, options);
  // The checks of the text report the same mistakes at better places.
  const told = new Set(source.problems.map(({ message }) => message));
  const problems = [
    ...broken.filter(({ message }) => !told.has(message)).map((problem) => ({ file, ...problem })),
    // The compiler reports too deep nesting itself.
    ...source.problems.filter(({ suggestion }) => broken.length === 0 || suggestion !== TOO_DEEP.suggestion),
  ].toSorted((a, b) => a.line - b.line || a.column - b.column);
  problems.push(...imported.problems);
  const { parameters, declaresParameters, starts, ...more } = declared;
  const offered = methods(components);
  const commands = [...offered.keys(), CALL_INFO, SCENARIO_INFO];
  const program: Program = {
    id,
    description: undefined,
    version: versionOf(text, imported.modules),
    file,
    promptsFolder,
    parameters,
    variables: [],
    blocks: new Map(),
    start: '',
    finally: undefined,
    interrupts: [],
    starts,
    ...more,
    secrets: [...new Set([text, ...imported.modules.map(({ source: each }) => each)].flatMap(namedSecrets))],
    name: more.name ?? id,
    module: { source: text, format, modules: imported.modules, methods: offered, commands, declaresParameters },
  };
  const runs = !shared && !problems.some(isMistake);
  return {
    program: runs ? program : undefined,
    ...(shared ? { shared } : {}),
    problems,
    references: [...references, ...imported.references],
    scripts: [],
  };
}

const NO_IMPORTS = { modules: [], problems: [], references: [] };

/** The hash of a scenario: a changed module makes a new version of every scenario that imports it. */
function versionOf(text: string, modules: readonly ScriptModule[]): string {
  const hash = createHash('sha256').update(text);
  for (const { specifier, source } of modules) hash.update(`\n${specifier}\n`).update(source);
  return hash.digest('hex').slice(0, 12);
}

/** Checks the rest of a text with syntax errors. Warnings are dropped: skipped lines may cause them. */
function readOn(source: Source, { code, hides }: Recovered, options: ReadOptions): void {
  const rest = new Source(code, source.file);
  read(rest, code, options);
  for (const { line, column, message, suggestion, severity } of rest.problems) {
    const offset = rest.offset(line, column);
    if (severity === undefined && message !== NO_DEFAULT.message && !hides(offset))
      source.problemAt(offset, message, suggestion);
  }
}

interface ReadOptions {
  readonly id: string;
  readonly components: ComponentDefinitions;
  readonly promptsFolder: string;
  readonly mayImport: boolean;
}

interface Reading {
  /** True for a module that only others import. */
  readonly shared: boolean;
  readonly declared: Declared;
  readonly references: readonly ScenarioReference[];
}

const NOTHING: Reading = {
  shared: false,
  declared: { parameters: [], declaresParameters: false, starts: [] },
  references: [],
};

/**
 * Reads the declarations of the text without running it.
 * @param code without types, every position unchanged; undefined after mistakes
 */
function read(
  source: Source,
  code: string | undefined,
  { id, components, promptsFolder, mayImport }: ReadOptions,
): Reading {
  if (code === undefined) return NOTHING;
  let reading = NOTHING;
  try {
    const tree = parse(code, { ecmaVersion: 'latest', sourceType: 'module' });
    const shared = mayImport && isShared(tree, DECLARED);
    reading = shared ? { ...NOTHING, shared } : declarations(source, tree, id);
    const { declared, references } = reading;
    const parameters = declared.declaresParameters ? declared.parameters.map(({ name }) => name) : undefined;
    const names = namesIn(tree);
    const functions = [...methods(components).keys()];
    checkModuleNames(
      tree,
      names,
      { functions, parameters, mayImport, isShared: shared },
      source.problemAt.bind(source),
    );
    const main = defaultExport(tree);
    if (main === 'missing' && !shared) source.problem(null, NO_DEFAULT.message, NO_DEFAULT.suggestion);
    const call = typeof main === 'object' ? main.params[0] : undefined;
    const calls = checkModuleCalls(tree, { source, components, promptsFolder, names, call });
    return { shared, declared, references: [...references, ...calls] };
  } catch (error) {
    if (error instanceof RangeError)
      source.warning(null, reading === NOTHING ? TOO_DEEP.unread : TOO_DEEP.message, TOO_DEEP.suggestion);
    // The code may still contain types.
    else if (!(error instanceof SyntaxError)) throw error;
    return reading;
  }
}

function declarations(source: Source, tree: Tree, id: string): Reading {
  const constants = exportedValues(tree);
  const node = (name: string): Node | null => {
    const value = constants.get(name);
    return value === undefined ? null : literal(source, name, value);
  };
  const entry = (name: string): Entry | undefined => {
    const value = node(name);
    return value === null ? undefined : { key: name, keyNode: value, value };
  };
  for (const [name, value] of constants) {
    const near = nearest(name, DECLARED);
    const instead = OF_YAML.get(name) ?? (near === undefined ? undefined : `did you mean "${near}"?`);
    if (!DECLARED.includes(name) && instead !== undefined)
      source.warning(unknownNode(value), `there is no export "${name}"`, instead);
  }
  const parameters = new DeclarationReader(source, new Names(source)).parameters(node('parameters'));
  const text = (name: string): { readonly [name: string]: string } => {
    const value = node(name);
    return isScalar(value) ? { [name]: scalarText(value) } : {};
  };
  const fallback = entry('fallback');
  const declared = {
    parameters,
    declaresParameters: constants.has('parameters'),
    starts: readStarts(source, node('starts'), parameters),
    ...limitsOf(source, entry('limits')),
    ...fallbackOf(source, fallback, id),
    ...languageOf(source, entry('language')),
    ...text('name'),
    ...text('description'),
  };
  return { shared: false, declared, references: fallbackReference(source, fallback?.value ?? null, id) };
}

/** Notes a computed value in a declaration, which must be a literal to be read without running the module. */
function literal(source: Source, name: string, value: AnyNode): Node | null {
  const node = literalNode(value as Expression);
  const unknown = unknownIn(node);
  if (!unknown) return node;
  const instead = unknown === node ? `write export const ${name} = and a literal` : 'write a literal here';
  source.problem(unknown, `"${name}" has to be written out`, instead);
  return null;
}

/** The first part of a value that is computed at run time. */
function unknownIn(node: Node): Node | undefined {
  if (isScalar(node)) return node.value === unknownNode({ start: 0, end: 0 }).value ? node : undefined;
  const parts = isMap(node) ? node.items.map(({ value }) => value as Node) : isSeq(node) ? (node.items as Node[]) : [];
  for (const part of parts) {
    const found = unknownIn(part);
    if (found) return found;
  }
  return undefined;
}

function tooLong(length: number): ScriptProblem & { readonly suggestion: string } {
  return {
    line: 1,
    column: 1,
    message: `the file has ${length} characters`,
    suggestion: `keep it below ${MAX_LENGTH}`,
  };
}
