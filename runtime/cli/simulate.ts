import process from 'node:process';
import { parseArgs } from 'node:util';
import { components, selectEntities } from '../component-registry/index.ts';
import { runSimulate } from '../workbench/index.ts';
import { LazySandbox } from './lazy-sandbox.ts';
import { classesFrom } from './simulated-classes.ts';
import { usageOf } from './usage.ts';

const USAGE = `ringmaster simulate FILE [OPTION...]
  --press 1,,2#              keys, a comma between two times that the scenario listens; nothing is silence
  --steps "presses 1, ..."   the caller's actions: presses 12#, silence, says yes, hears menu.wav, holds, resumes,
                             hangs up; each may come \`after 5s\`
  --hang-up-after 10s        the caller hangs up after this time; default two minutes
  --from 101 --to 500        the caller's number, and the dialled number; --from none: a start without a caller;
                             --to none: the platform has called the other party, and the call is up
  --phone 102=busy           behaviour of a called phone: answers after 5s, busy, no answer, declines, 480;
                             once more for the next time that it calls;
                             after its answer the same as the caller: "102=answers, presses 1, hangs up after 30s"
  --http "GET https://a.example/b: { json: { x: 1 } }"
                             the answer of a server, as in a file of tests; once more for its next answer
  --operation "lookup: { ids: [a] }"
                             the answer of a call operation, likewise
  --classes FILE             the classes of the data model: of this file, or of the node at this URL; default:
                             classes.json beside the scenario, where there is one
  --at 2026-11-23T09:30      start time; UTC, or with an offset such as +01:00; default now
  --arg name=value           a parameter of the scenario
  --json                     the result as JSON, in the form of \`trace --json\`
  --debug                    scripts wait for a debugger`;
/** The default port of Node.js for debuggers. */
const DEBUG_PORT = 9229;

/** `ringmaster simulate`: runs a scenario against a scripted caller, without SIP, and prints what happened. */
export async function simulate(args: readonly string[]): Promise<number> {
  return usageOf(USAGE, args, async () => {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: {
        press: { type: 'string' },
        steps: { type: 'string' },
        from: { type: 'string' },
        to: { type: 'string' },
        at: { type: 'string' },
        phone: { type: 'string', multiple: true, default: [] },
        http: { type: 'string', multiple: true, default: [] },
        operation: { type: 'string', multiple: true, default: [] },
        classes: { type: 'string' },
        'hang-up-after': { type: 'string' },
        json: { type: 'boolean', default: false },
        debug: { type: 'boolean', default: false },
        arg: { type: 'string', multiple: true, default: [] },
      },
      allowPositionals: true,
    });
    const [file, ...more] = positionals;
    if (file === undefined || more.length > 0) throw new TypeError('name one scenario file');
    const { press, steps, from, to, at, 'hang-up-after': hangUpAfter } = values;
    await using sandbox = new LazySandbox(values.debug ? DEBUG_PORT : undefined);
    if (values.debug) await letDebuggersIn(sandbox);
    return await runSimulate(
      file,
      {
        ...(press === undefined ? {} : { press }),
        ...(steps === undefined ? {} : { steps }),
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
        ...(at === undefined ? {} : { at }),
        ...(hangUpAfter === undefined ? {} : { hangUpAfter }),
        phones: values.phone,
        http: values.http,
        operations: values.operation,
        openSandbox: sandbox.open,
        select: selectEntities,
        classesFor: classesFrom(values.classes),
        json: values.json,
        debug: values.debug,
        argTexts: Object.fromEntries(values.arg.map(argument)),
      },
      components,
      (line) => process.stdout.write(`${line}\n`),
    );
  });
}

async function letDebuggersIn(sandbox: LazySandbox): Promise<void> {
  try {
    await sandbox.open();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE') throw error;
    const what = `debuggers cannot connect to port ${DEBUG_PORT}, because another program listens on it`;
    throw new TypeError(`${what}: ${message}`, { cause: error });
  }
  process.stderr.write(`scripts wait a minute each for a debugger on port ${DEBUG_PORT}\n`);
}

function argument(text: string): [string, string] {
  const [, name, value = ''] = /^([A-Za-z]\w*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined) throw new TypeError(`--arg ${text}: write name=value`);
  return [name, value];
}
