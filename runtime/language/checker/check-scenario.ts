/** Checks a whole YAML scenario and compiles it to a program. */
import path from 'node:path';
import { type Node, isMap, isScalar } from 'yaml';
import type { ComponentDefinitions } from '../component.ts';
import { ExpressionCompiler, NOW } from '../expression/expression.ts';
import { nearest } from '../../words/index.ts';
import { type LimitsWanted, readLimits } from '../limits.ts';
import { type Problem, isMistake, suggestName } from '../problem.ts';
import type { Program } from '../program.ts';
import { namedSecrets } from '../secret-names.ts';
import { settingKind } from '../setting.ts';
import type { Value, ValueType } from '../values.ts';
import { type BlockDraft, BlockReader, textOf } from './blocks/blocks.ts';
import { DeclarationReader } from './names/declarations.ts';
import { readInterrupts } from './blocks/interrupts.ts';
import { errorValues } from './names/error-values.ts';
import { BUILT_IN_MAPS, BUILT_IN_RECORDS, BUILT_IN_VALUES, Names } from './names/names.ts';
import { type Entry, type Source, scalarText } from './text/source.ts';
import { type ScenarioReference, fallbackReference } from './names/references.ts';
import { LANGUAGE } from '../prompts.ts';
import type { ScriptSite } from './scripts/scripts.ts';
import { readStarts } from './blocks/starts.ts';
import { YamlSource } from './text/yaml-source.ts';

const SECTIONS = [
  'id',
  'name',
  'description',
  'parameters',
  'variables',
  'starts',
  'start',
  'on',
  'finally',
  'fallback',
  'language',
  'limits',
  'blocks',
];
const OTHER_NAME = `write ${NOW}_1 or another name`;
const SCENARIO_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

export interface CheckOptions {
  /** Named in problems; prompts are in `prompts/` beside it unless `promptsFolder` is given. */
  readonly file: string;
  readonly components: ComponentDefinitions;
  readonly promptsFolder?: string;
  /** The id of a scenario that is not a file; an `id` in the text is then optional and ignored. */
  readonly id?: string;
}

export interface CheckResult {
  /** Undefined after mistakes; warnings alone leave it defined. */
  readonly program: Program | undefined;
  /** The readable part of the program, despite its mistakes. */
  readonly draft?: Program | undefined;
  /** A module that other scenarios import, and no scenario itself. */
  readonly shared?: boolean;
  readonly problems: readonly Problem[];
  /** The scenarios that it starts by a literal id. */
  readonly references: readonly ScenarioReference[];
  /** Scripts of blocks, still to be compiled and checked. */
  readonly scripts: readonly ScriptSite[];
}

/** Checks the text of a scenario file and lists all mistakes, in the order of the file. Runs nothing. */
export function checkScenario(text: string, options: CheckOptions): CheckResult {
  const source = new YamlSource(text, options.file);
  const checked = isMap(source.root) ? checkRoot(source, source.root, options) : undefined;
  if (!checked && source.problems.length === 0)
    source.problem(source.root, 'a scenario is a map with id, start and blocks', 'begin with id: my_scenario');
  const { problems } = source;
  const { program, references = [], scripts = [] } = checked ?? {};
  return { program: problems.some(isMistake) ? undefined : program, draft: program, problems, references, scripts };
}

function checkRoot(
  source: Source,
  root: Node,
  options: CheckOptions,
): Pick<CheckResult, 'references' | 'scripts'> & { readonly program: Program } {
  const sections = readSections(source, root);
  const node = (name: string): Node | null => sections.get(name)?.value ?? null;
  const names = new Names(source);
  const declarations = new DeclarationReader(source, names);
  const parameters = declarations.parameters(node('parameters'));
  const variables = declarations.variables(node('variables'), parameters);
  const reader = new BlockReader(source, options.components);
  const drafts = reader.draft(node('blocks'), names);

  const given = new Set(parameters.map(({ name }) => name));
  const variableTypes = new Map(variables.map(({ name, type }) => [name, type]));
  const readable = new Map([...parameters.map(({ name, type }) => [name, type] as const), ...variableTypes]);
  const results = resultRecords(drafts);
  if ([...readable, ...results].some(([name]) => name === NOW))
    source.warning(
      names.nodes.get(NOW) ?? null,
      `"${NOW}" is the time, which expressions cannot read then`,
      OTHER_NAME,
    );
  const records = new Map([...BUILT_IN_RECORDS, ...results]);
  const broken = reader.broken(drafts);
  const errors = errorValues(drafts, broken.length > 0);
  const compiler = new ExpressionCompiler({
    variables: new Map([
      ...broken.map((name) => [name, 'any'] as const),
      ...undeclared(source, drafts),
      ...readable,
      ...BUILT_IN_MAPS,
    ]),
    records,
    refused: names.refused,
    values: {
      variables: new Map(parameters.flatMap(({ name, values }) => (values?.every(isText) ? [[name, values]] : []))),
      records: new Map([...BUILT_IN_VALUES, ...(errors.open ? [] : errors.values), ...resultValues(drafts)]),
      open: new Map(errors.open ? errors.values : []),
    },
  });
  const promptsFolder = options.promptsFolder ?? path.join(path.dirname(path.resolve(options.file)), 'prompts');
  const blocks = reader.compile(drafts, { compiler, variables: variableTypes, parameters: given, promptsFolder });
  const start = sections.get('start');
  if (!start) source.problem(root, 'the scenario has no start', 'write start: BLOCK');
  const interrupts = readInterrupts(source, node('on'));
  const last = sections.get('finally');
  reader.checkFlow(blocks, drafts, { start, last, interrupts, unset: declarations.unset });

  const id = options.id ?? readId(source, sections.get('id'), root);
  const program: Program = {
    id,
    name: optionalText(source, sections.get('name')) ?? id,
    description: optionalText(source, sections.get('description')),
    version: source.version,
    file: options.file,
    promptsFolder,
    parameters,
    variables,
    blocks,
    start: start ? textOf(start) : '',
    finally: last ? textOf(last) : undefined,
    ...limitsOf(source, sections.get('limits')),
    ...fallbackOf(source, sections.get('fallback'), id),
    ...languageOf(source, sections.get('language')),
    secrets: namedSecrets(source.text),
    starts: readStarts(source, node('starts'), parameters),
    interrupts: interrupts.map(({ kind, name, target, milliseconds }) => ({ kind, name, target, milliseconds })),
  };
  const scripts = reader.scripts(drafts, {
    variables: readable,
    parameters: given,
    records,
  });
  const references = [...fallbackReference(source, node('fallback'), id), ...reader.references(drafts)];
  return { program, references, scripts };
}

/** Undeclared variables that blocks set: reported where they are set, not where they are read. */
function undeclared(source: Source, drafts: readonly BlockDraft[]): (readonly [string, ValueType])[] {
  return drafts.flatMap(({ component, settings: { value } }) =>
    settingKind(component.settings) === 'assignments' && isMap(value)
      ? source.entries(value).map(({ key }) => [key, 'any'] as const)
      : [],
  );
}

function isText(value: Value): value is string {
  return typeof value === 'string';
}

/** Results of blocks, which expressions read as `block.field`. */
function resultRecords(drafts: readonly BlockDraft[]): (readonly [string, Record<string, ValueType>])[] {
  return drafts
    .filter(({ component }) => Object.keys(component.results).length > 0)
    .map(
      ({ name, component }) =>
        [
          name,
          Object.fromEntries(Object.entries(component.results).map(([field, { type }]) => [field, type])),
        ] as const,
    );
}

/** Possible values of result fields, where known. */
function resultValues(drafts: readonly BlockDraft[]): (readonly [string, Record<string, readonly string[]>])[] {
  return drafts.map(({ name, component }) => {
    const known = Object.entries(component.results).flatMap(([field, { values }]) =>
      values === undefined ? [] : [[field, values] as const],
    );
    return [name, Object.fromEntries(known)] as const;
  });
}

function readSections(source: Source, root: Node): Map<string, Entry> {
  const sections = new Map<string, Entry>();
  const unknown: Entry[] = [];
  for (const entry of isMap(root) ? source.entries(root) : []) {
    if (SECTIONS.includes(entry.key)) sections.set(entry.key, entry);
    else unknown.push(entry);
  }
  for (const entry of unknown) {
    source.problem(entry.keyNode, `a scenario has no section "${entry.key}"`, suggestName(entry.key, SECTIONS));
    // A misspelt section is not also a missing one.
    const meant = nearest(entry.key, SECTIONS);
    if (meant !== undefined && !sections.has(meant)) sections.set(meant, entry);
  }
  return sections;
}

function readId(source: Source, entry: Entry | undefined, root: Node): string {
  if (!entry) {
    source.problem(root, 'the scenario has no id', 'write id: my_scenario');
    return '';
  }
  const id = textOf(entry);
  if (!SCENARIO_ID.test(id))
    source.problem(entry.value ?? entry.keyNode, `"${id}" cannot be an id: letters, digits, _ . - only, at most 64`);
  return id;
}

export function limitsOf(source: Source, entry: Entry | undefined): { readonly limits?: LimitsWanted } {
  if (!entry) return {};
  const { limits, problems } = readLimits(entry.value?.toJSON());
  for (const { name, message, suggestion } of problems) {
    const own = isMap(entry.value) ? source.entries(entry.value).find(({ key }) => key === name) : undefined;
    source.problem(own?.keyNode ?? entry.keyNode, message, suggestion);
  }
  return { limits };
}

export function fallbackOf(source: Source, entry: Entry | undefined, id: string): { readonly fallback?: string } {
  if (!entry) return {};
  const fallback = textOf(entry);
  if (!SCENARIO_ID.test(fallback))
    source.problem(entry.value ?? entry.keyNode, 'fallback names no scenario', 'write the id of one');
  else if (fallback === id)
    source.problem(
      entry.value ?? entry.keyNode,
      'the scenario cannot be its own fallback',
      'write the id of another one',
    );
  return { fallback };
}

export function languageOf(source: Source, entry: Entry | undefined): { readonly language?: string } {
  if (!entry) return {};
  const language = textOf(entry);
  if (LANGUAGE.test(language)) return { language };
  source.problem(entry.value ?? entry.keyNode, `"${language}" is no language tag`, 'write e.g. de or de-AT');
  return {};
}

function optionalText(source: Source, entry: Entry | undefined): string | undefined {
  if (entry?.value && !isScalar(entry.value))
    source.problem(entry.value, `"${entry.key}" must be a text`, 'put it in quotes');
  return isScalar(entry?.value) && entry.value.value !== null ? scalarText(entry.value) : undefined;
}
