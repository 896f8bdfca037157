import process from 'node:process';
import { parseArgs } from 'node:util';
import { components, selectEntities } from '../component-registry/index.ts';
import { runTests, runWatching } from '../workbench/index.ts';
import { LazySandbox } from './lazy-sandbox.ts';
import { classesFrom } from './simulated-classes.ts';
import { STOP_SIGNALS } from './signals.ts';
import { usageOf } from './usage.ts';

const USAGE = `ringmaster test [--show] [--watch] [--classes FILE|URL] [FOLDER|FILE.test.yaml ...]
  --show          the transcript of every test, not only of failed ones
  --watch         runs the tests again after every change of their files, until Ctrl-C
  --classes FILE  the classes of the data model: of this file, or of the node at this URL; default: classes.json beside
                  the scenario, where there is one`;

/** `ringmaster test`: runs the scripted-caller tests of folders; default: the current one. */
export async function test(args: readonly string[]): Promise<number> {
  return usageOf(USAGE, args, async () => {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: {
        show: { type: 'boolean', default: false },
        watch: { type: 'boolean', default: false },
        classes: { type: 'string' },
      },
      allowPositionals: true,
    });
    const targets = positionals.length === 0 ? ['.'] : positionals;
    await using sandbox = new LazySandbox();
    const run = (): Promise<number> =>
      runTests(targets, components, (line) => process.stdout.write(`${line}\n`), {
        openSandbox: sandbox.open,
        select: selectEntities,
        classesFor: classesFrom(values.classes),
        show: values.show,
      });
    return values.watch ? await runWatching(targets, run, stopped()) : await run();
  });
}

/** Aborts when the command is to end. */
function stopped(): AbortSignal {
  const control = new AbortController();
  for (const signal of STOP_SIGNALS) process.once(signal, () => control.abort());
  return control.signal;
}
