import process from 'node:process';
import { parseArgs } from 'node:util';
import { components } from '../component-registry/index.ts';
import { runTests } from '../workbench/index.ts';
import { LazySandbox } from './lazy-sandbox.ts';
import { selectEntities } from './simulated-query.ts';
import { usageOf } from './usage.ts';

const USAGE =
  'ringmaster test [--show] [FOLDER|FILE.test.yaml ...]\n  --show  the transcript of every test, not only of failed ones';

/** `ringmaster test`: runs the scripted-caller tests of folders; default: the current one. */
export async function test(args: readonly string[]): Promise<number> {
  return usageOf(USAGE, args, async () => {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { show: { type: 'boolean', default: false } },
      allowPositionals: true,
    });
    const targets = positionals.length === 0 ? ['.'] : positionals;
    await using sandbox = new LazySandbox();
    return await runTests(targets, components, (line) => process.stdout.write(`${line}\n`), {
      openSandbox: sandbox.open,
      select: selectEntities,
      show: values.show,
    });
  });
}
