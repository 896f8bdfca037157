import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { components } from '../component-registry/index.ts';
import {
  checkModule,
  type CheckResult,
  checkScenario,
  formatProblem,
  isMistake,
  isModuleScenario,
  methods,
  type Problem,
} from '../language/index.ts';
import { mermaid, moduleMermaid, scenarioSchema, typeDeclarations } from '../workbench/index.ts';
import { compileHere, type ScriptSource } from '../sandbox/index.ts';
import { hideNodeWarnings } from './node-warnings.ts';
import { LazySandbox } from './lazy-sandbox.ts';
import { usageOf } from './usage.ts';

const USAGE = 'ringmaster schema [FILE... | --types | --mermaid FILE]';

/** `ringmaster schema`: prints the JSON Schema of scenario files, declarations for modules, or a drawing. */
export async function schema(args: readonly string[]): Promise<number> {
  return usageOf(USAGE, args, async () => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { types: { type: 'boolean', default: false }, mermaid: { type: 'string' } },
    });
    const [first] = positionals;
    if (first !== undefined && (values.types || values.mermaid !== undefined))
      throw new TypeError(`${first} goes with neither --types nor --mermaid`);
    if (values.mermaid !== undefined) return draw(values.mermaid);
    const text = values.types
      ? typeDeclarations(components)
      : `${JSON.stringify(scenarioSchema(components, await blocksOf(positionals)), undefined, 2)}\n`;
    process.stdout.write(text);
    return 0;
  });
}

/** The names of the blocks of scenarios, as far as they can be read. */
async function blocksOf(files: readonly string[]): Promise<readonly string[]> {
  const checked = await Promise.all(files.map(async (file) => checkScenario(await read(file), { file, components })));
  return checked.flatMap(({ draft }) => [...(draft?.blocks.keys() ?? [])]);
}

/** @throws TypeError */
async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new TypeError(`${file} cannot be read`, { cause: error });
  }
}

async function draw(file: string): Promise<number> {
  const text = await read(file);
  const { drawing, problems } = isModuleScenario(file)
    ? await drawModule(file, text)
    : drawBlocks(checkScenario(text, { file, components }));
  if (drawing !== undefined) process.stdout.write(drawing);
  const mistakes = problems.filter(isMistake);
  for (const problem of mistakes) process.stderr.write(`${formatProblem(problem)}\n`);
  return mistakes.length > 0 ? 1 : 0;
}

interface Drawn {
  readonly drawing?: string;
  readonly problems: readonly Problem[];
}

/** A scenario with mistakes, such as missing prompts, is drawn as far as it can be read. */
function drawBlocks({ draft, problems }: CheckResult): Drawn {
  return { ...(draft && draft.blocks.size > 0 ? { drawing: mermaid(draft) } : {}), problems };
}

async function drawModule(file: string, text: string): Promise<Drawn> {
  hideNodeWarnings();
  await using sandbox = new LazySandbox();
  const compile = async (source: ScriptSource) => compileHere(source) ?? (await sandbox.open()).compile(source);
  const { problems } = await checkModule(text, { file, components, compile });
  const compiled = await compile({ source: text, format: file.endsWith('.ts') ? 'ts' : 'js', kind: 'module', file });
  if (!compiled.ok) return { problems };
  const id = basename(file, extname(file));
  return { drawing: moduleMermaid(id, compiled.code, new Set(methods(components).keys())), problems };
}
