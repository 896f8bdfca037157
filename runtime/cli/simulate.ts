import process from 'node:process';
import { parseArgs } from 'node:util';
import { components } from '../../components/index.ts';
import { runSimulate } from '../interpreter/simulation/simulate-command.ts';
import { LazySandbox } from './lazy-sandbox.ts';
import { selectEntities } from './simulated-query.ts';
import { usageOf } from './usage.ts';

const USAGE = 'ringmaster simulate FILE [--press 1,2#] [--hang-up-after 10s] [--arg name=value ...] [--debug]';
/** The port at which debuggers look for Node.js. */
const DEBUG_PORT = 9229;

/** `ringmaster simulate`: runs a scenario against a scripted caller, without SIP, and prints what happened. */
export async function simulate(args: readonly string[]): Promise<number> {
  return usageOf(USAGE, async () => {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: {
        press: { type: 'string' },
        'hang-up-after': { type: 'string' },
        debug: { type: 'boolean', default: false },
        arg: { type: 'string', multiple: true, default: [] },
      },
      allowPositionals: true,
    });
    const [file, ...more] = positionals;
    if (file === undefined || more.length > 0) throw new TypeError('name one scenario file');
    const { press, 'hang-up-after': hangUpAfter } = values;
    await using sandbox = new LazySandbox(values.debug ? DEBUG_PORT : undefined);
    if (values.debug) process.stderr.write(`scripts wait a minute each for a debugger on port ${DEBUG_PORT}\n`);
    return await runSimulate(
      file,
      {
        ...(press === undefined ? {} : { press }),
        ...(hangUpAfter === undefined ? {} : { hangUpAfter }),
        openSandbox: sandbox.open,
        select: selectEntities,
        debug: values.debug,
        argTexts: Object.fromEntries(values.arg.map(argument)),
      },
      components,
      (line) => process.stdout.write(`${line}\n`),
    );
  });
}

function argument(text: string): [string, string] {
  const [, name, value = ''] = /^([A-Za-z]\w*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined) throw new TypeError(`--arg ${text}: write name=value`);
  return [name, value];
}
