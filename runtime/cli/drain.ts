import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { counted } from '../words/index.ts';
import { ask, nodeUrl, tokenFor } from './node-access.ts';
import { usageOf } from './usage.ts';

const USAGE = `ringmaster drain [--seconds N] [--cancel] [--url http://127.0.0.1:8080] [--token T]
  takes no new calls, waits for the live ones, and ends the node; after N seconds it ends them (default: RINGMASTER_DRAIN
  of the node, or 600); --cancel: the node takes calls again
  exit code 0: the node has ended after its last call; 3: it ended calls; 4: the drain was cancelled; 1: refused
  for administrators of the master domain; without --token: RINGMASTER_TOKEN, see ringmaster login`;

const ENDED_CALLS = 3;
const CANCELLED = 4;
/** Seconds between two lines about what is left. */
const WAIT_S = 2;
/** Milliseconds in which a node ends its calls and writes its data. */
const END_MS = 30_000;

interface DrainState {
  readonly state: 'accepting' | 'draining' | 'ending';
  readonly calls: number;
  readonly runs: number;
  readonly until?: number;
}

/** `ringmaster drain`: drains a running node and waits for its end, or takes it out of its drain. */
export async function drain(args: readonly string[]): Promise<number> {
  return usageOf(USAGE, args, async () => {
    const { values } = parseArgs({
      args: [...args],
      options: {
        seconds: { type: 'string' },
        cancel: { type: 'boolean', default: false },
        url: { type: 'string', default: nodeUrl() },
        token: { type: 'string' },
      },
    });
    if (values.seconds !== undefined && !/^\d{1,5}$/.test(values.seconds))
      throw new TypeError(`--seconds: "${values.seconds}" is no number of seconds from 0 to 86400`);
    const base = `${values.url}/rest/v1`;
    const headers = { authorization: `Bearer ${await tokenFor(base, values.token)}` };
    try {
      if (values.cancel) {
        await stateOf(await ask(`${base}/api/drain`, { method: 'DELETE', headers }));
        print('The node takes calls.');
        return 0;
      }
      const body = values.seconds === undefined ? '{}' : JSON.stringify({ seconds: Number(values.seconds) });
      const json = { ...headers, 'content-type': 'application/json' };
      const begun = await stateOf(await ask(`${base}/api/drain`, { method: 'POST', headers: json, body }));
      const next = async () => stateOf(await fetch(`${base}/api/drain?wait=${WAIT_S}`, { headers }));
      return await untilGone(`${values.url}/healthz`, await follow(begun, next));
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      process.stderr.write(`ringmaster: ${error.message}\n`);
      return 1;
    }
  });
}

/** The node refused the request; the message is its own. */
class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

async function stateOf(response: Response): Promise<DrainState> {
  const body = (await response.json()) as DrainState & { readonly error_message?: string };
  if (!response.ok) throw new RefusedError(body.error_message ?? `the node answered ${response.status}`);
  return body;
}

/** Shows what is left until the drain is over. @returns the exit code */
async function follow(begun: DrainState, next: () => Promise<DrainState>): Promise<number> {
  let state = begun;
  for (;;) {
    if (state.state === 'accepting') {
      print('The drain was cancelled: the node takes calls.');
      return CANCELLED;
    }
    if (state.state === 'ending') {
      const { calls, runs } = state;
      print(calls + runs === 0 ? 'No call is left: the node ends.' : `The node ends with ${left(state)}.`);
      return calls + runs === 0 ? 0 : ENDED_CALLS;
    }
    print(`${left(state)} left, until ${new Date(state.until ?? 0).toTimeString().slice(0, 8)}`);
    try {
      state = await next();
    } catch (error) {
      if (error instanceof RefusedError) throw error;
      // It ended between two requests, or was killed.
      print(`The node has ended; at the last look it had ${left(state)}.`);
      return state.calls + state.runs === 0 ? 0 : ENDED_CALLS;
    }
  }
}

function left({ calls, runs }: DrainState): string {
  return `${counted(calls, 'call')} and ${counted(runs, 'run')}`;
}

/** Waits until nothing listens at the node's address any more. */
async function untilGone(health: string, code: number): Promise<number> {
  if (code === CANCELLED) return code;
  const deadline = performance.now() + END_MS;
  while (performance.now() < deadline) {
    try {
      await (await fetch(health)).arrayBuffer();
    } catch {
      return code;
    }
    await delay(100);
  }
  throw new RefusedError(`the node still answers, ${END_MS / 1000} s after the end of its drain`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
