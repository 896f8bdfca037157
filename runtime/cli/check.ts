import process from 'node:process';
import { parseArgs } from 'node:util';
import { components } from '../component-registry/index.ts';
import { compileHere } from '../sandbox/index.ts';
import { runCheck } from '../workbench/index.ts';
import { hideNodeWarnings } from './node-warnings.ts';
import { LazySandbox } from './lazy-sandbox.ts';
import { usageOf } from './usage.ts';

const USAGE = 'ringmaster check [--json] FILE|FOLDER...';

/** `ringmaster check`: prints every mistake as `file:line:col: message`, or as JSON; exit code 1 after a mistake that is no warning. */
export async function check(args: readonly string[]): Promise<number> {
  return usageOf(USAGE, args, async () => {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { json: { type: 'boolean', default: false } },
      allowPositionals: true,
    });
    if (positionals.length === 0) throw new TypeError('name one or more scenario files or folders');
    hideNodeWarnings();
    await using sandbox = new LazySandbox();
    return await runCheck(positionals, components, (line) => process.stdout.write(`${line}\n`), {
      json: values.json,
      compile: async (source) => compileHere(source) ?? (await sandbox.open()).compile(source),
    });
  });
}
