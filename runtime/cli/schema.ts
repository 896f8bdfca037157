import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { components } from '../../components/index.ts';
import { checkScenario } from '../interpreter/checker/check-scenario.ts';
import { formatProblem } from '../interpreter/problem.ts';
import { scenarioSchema } from '../interpreter/tools/json-schema.ts';
import { mermaid } from '../interpreter/tools/mermaid.ts';
import { typeDeclarations } from '../interpreter/tools/type-declarations.ts';
import { usageOf } from './usage.ts';

const USAGE = 'ringmaster schema [--types | --mermaid FILE]';

/** `ringmaster schema`: prints the JSON Schema of scenario files, declarations for modules, or a drawing. */
export async function schema(args: readonly string[]): Promise<number> {
  return usageOf(USAGE, args, async () => {
    const { values } = parseArgs({
      args: [...args],
      options: { types: { type: 'boolean', default: false }, mermaid: { type: 'string' } },
    });
    if (values.mermaid !== undefined) return draw(values.mermaid);
    const text = values.types
      ? typeDeclarations(components)
      : `${JSON.stringify(scenarioSchema(components), undefined, 2)}\n`;
    process.stdout.write(text);
    return 0;
  });
}

async function draw(file: string): Promise<number> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new TypeError(`${file} cannot be read`, { cause: error });
  }
  const { program, problems } = checkScenario(text, { file, components });
  if (program) process.stdout.write(mermaid(program));
  else for (const problem of problems) process.stderr.write(`${formatProblem(problem)}\n`);
  return program ? 0 : 1;
}
