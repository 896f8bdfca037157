import { createHash } from 'node:crypto';
import path from 'node:path';
import { parseDocument } from 'yaml';
import type { CompileResult, ScriptFormat, ScriptSource } from '../../sandbox/index.ts';
import type { ComponentRegistry } from '../component.ts';
import { readLimits } from '../limits.ts';
import { methods } from '../method.ts';
import type { Problem } from '../problem.ts';
import type { Program } from '../program.ts';
import type { CheckResult } from './check-scenario.ts';

/** The largest module, in characters. */
const MAX_LENGTH = 1_000_000;
/** `export const fallback = 'voicemail';`: known without running the module. */
const FALLBACK = /^export const fallback = ['"]([A-Za-z0-9][A-Za-z0-9_.-]{0,63})['"]/m;
/** `export const limits = { cpu: '5s', memory: 64 };`: on one line, read as YAML reads it. */
const LIMITS = /^export const limits = (\{[^\n]*\})/m;
const MODULE_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

export interface ModuleCheckOptions {
  readonly file: string;
  readonly components: ComponentRegistry;
  /** Where prompts are; left out: in `prompts/` beside the file. */
  readonly promptsFolder?: string;
  /** The id of a scenario that has it from elsewhere than its file. */
  readonly id?: string;
  /** Looks for mistakes in the source without running it; left out: they show when it runs. */
  readonly compile?: (source: ScriptSource) => Promise<CompileResult>;
}

/** Checks a scenario that is a `.js` or `.ts` module: its id is the name of the file. */
export async function checkModule(
  text: string,
  { file, components, compile, ...given }: ModuleCheckOptions,
): Promise<CheckResult> {
  const format: ScriptFormat = file.endsWith('.ts') ? 'ts' : 'js';
  const id = given.id ?? path.basename(file).replace(/\.[jt]s$/, '');
  const problems: Problem[] = [];
  const problem = (message: string, suggestion: string): void => {
    problems.push({ file, line: 1, column: 1, message, suggestion });
  };
  if (!MODULE_ID.test(id)) problem(`"${id}" cannot be an id`, 'use letters, digits, _ . - in the name of the file');
  if (text.length > MAX_LENGTH) problem(`the file has ${text.length} characters`, `keep it below ${MAX_LENGTH}`);
  else if (!/\bexport\s+(default\b|\{[^}]*\bas\s+default\b)/.test(text))
    problem('the module exports no default function', 'write export default async function (call, args) { ... }');
  else if (compile) problems.push(...(await compileProblems(compile, { source: text, format, kind: 'module', file })));
  const wanted = LIMITS.exec(text)?.[1];
  const { limits, problems: wrong } = wanted === undefined ? { problems: [] } : readLimits(readFlow(wanted));
  for (const { message, suggestion } of wrong)
    problems.push({ file, line: lineOf(text, LIMITS), column: 1, message, ...(suggestion ? { suggestion } : {}) });
  const fallback = FALLBACK.exec(text)?.[1];
  const program: Program = {
    id,
    name: id,
    description: undefined,
    version: createHash('sha256').update(text).digest('hex').slice(0, 12),
    file,
    promptsFolder: given.promptsFolder ?? path.join(path.dirname(path.resolve(file)), 'prompts'),
    parameters: [],
    variables: [],
    blocks: new Map(),
    start: '',
    finally: undefined,
    interrupts: [],
    ...(limits === undefined ? {} : { limits }),
    ...(fallback === undefined ? {} : { fallback }),
    module: { source: text, format, methods: methods(components) },
  };
  return { program: problems.length === 0 ? program : undefined, problems };
}

function readFlow(text: string): unknown {
  const document = parseDocument(text);
  return document.errors.length > 0 ? undefined : document.toJS();
}

function lineOf(text: string, pattern: RegExp): number {
  return text.slice(0, pattern.exec(text)?.index ?? 0).split('\n').length;
}

async function compileProblems(
  compile: (source: ScriptSource) => Promise<CompileResult>,
  source: ScriptSource,
): Promise<Problem[]> {
  const result = await compile(source);
  return result.ok ? [] : result.problems.map((found) => ({ file: source.file, ...found }));
}
