import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import type { RunView } from '../runs/index.ts';
import { components, selectEntities } from '../component-registry/index.ts';
import { compileHere, type CompileResult, type ScriptSource } from '../sandbox/index.ts';
import { asTest, ReplayError, runsText, servedBy, traceText, verifiedTest } from '../workbench/index.ts';
import { LazySandbox } from './lazy-sandbox.ts';
import { hideNodeWarnings } from './node-warnings.ts';
import { ask, nodeUrl, tokenFor } from './node-access.ts';
import { scenarioOfRun } from './scenario-of-run.ts';
import { classesFrom } from './simulated-classes.ts';
import { usageOf } from './usage.ts';

/** Number of listed runs. */
const LISTED = 20;

const USAGE = `ringmaster trace [ID] [--as-test [--scenario FILE] | --json] [--url http://127.0.0.1:8080] [--token T]
  without an ID: lists the latest runs with their ids, newest last
  --as-test: a test of the run, after it has passed here; --scenario is the file of the scenario, default: the file of its
             name in this folder, in the node's scenarios, or among the examples
  without --token: RINGMASTER_TOKEN, or the demo administrator of a node on this machine`;

/** `ringmaster trace`: shows a live or finished run of a running node, or makes a test of it; without an id, lists them. */
export async function trace(args: readonly string[]): Promise<number> {
  return usageOf(USAGE, args, async () => {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: {
        'as-test': { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        url: { type: 'string', default: nodeUrl() },
        token: { type: 'string' },
        scenario: { type: 'string' },
      },
      allowPositionals: true,
    });
    const [id, ...more] = positionals;
    if (more.length > 0 || (id === undefined && values['as-test'])) throw new TypeError('name one run');
    const base = `${values.url}/rest/v1`;
    const token = await tokenFor(base, values.token);
    const found = id === undefined ? await fetchRuns(base, token) : await fetchRun(base, token, id);
    if ('id' in found && values['as-test']) {
      hideNodeWarnings();
      return printTest(found, await fetchServed(base, token, found), values.scenario);
    }
    if (values.json) process.stdout.write(`${JSON.stringify(found, undefined, 2)}\n`);
    else process.stdout.write(lines('id' in found ? traceText(found) : runsText(found, LISTED)));
    return 0;
  });
}

function lines(of: readonly string[]): string {
  return of.map((line) => `${line}\n`).join('');
}

async function fetchRuns(base: string, token: string): Promise<readonly RunView[]> {
  const response = await ask(`${base}/api/runs?limit=${LISTED}`, { headers: { authorization: `Bearer ${token}` } });
  if (!response.ok) throw new TypeError(`the node answered ${response.status}`);
  return (await response.json()) as readonly RunView[];
}

/**
 * @param scenario its file, where the author names it
 * @returns the exit code: 1 when the run cannot become a test that passes
 */
async function printTest(
  view: RunView,
  served: ReadonlyMap<string, RunView>,
  scenario: string | undefined,
): Promise<number> {
  await using sandbox = new LazySandbox();
  const compile = async (source: ScriptSource): Promise<CompileResult> =>
    compileHere(source) ?? (await sandbox.open()).compile(source);
  try {
    const found = await scenarioOfRun(view, scenario, compile);
    // The rest of a live run is not known yet.
    const untried = view.outcome === undefined ? 'the run is not over' : typeof found === 'string' ? found : undefined;
    if (untried !== undefined || typeof found === 'string') {
      process.stdout.write(asTest(view, served));
      process.stderr.write(`the test was not tried: ${untried}\n`);
      return 0;
    }
    const classes = await classesFrom(undefined)(path.dirname(found.file));
    const tools = { components, openSandbox: sandbox.open, select: selectEntities, classes };
    process.stdout.write(await verifiedTest(view, served, found, tools));
    return 0;
  } catch (error) {
    if (!(error instanceof ReplayError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}

/** The kept runs that got the call from a run, directly or through others. */
async function fetchServed(base: string, token: string, view: RunView): Promise<ReadonlyMap<string, RunView>> {
  const found = new Map<string, RunView>();
  for (const id of servedBy(view)) {
    const served = await findRun(base, token, id);
    if (!served) continue;
    found.set(id, served);
    for (const each of await fetchServed(base, token, served)) found.set(...each);
  }
  return found;
}

async function fetchRun(base: string, token: string, id: string): Promise<RunView> {
  const view = await findRun(base, token, id);
  if (!view) throw new TypeError(`there is no run ${id}, or its trace is no longer kept`);
  return view;
}

async function findRun(base: string, token: string, id: string): Promise<RunView | undefined> {
  const response = await ask(`${base}/api/runs/${encodeURIComponent(id)}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (response.status === 404) return undefined;
  if (!response.ok) throw new TypeError(`the node answered ${response.status}`);
  return (await response.json()) as RunView;
}
