import process from 'node:process';
import { parseArgs } from 'node:util';
import { ask, nodeUrl, tokenFor } from './node-access.ts';
import { usageOf } from './usage.ts';

const USAGE = `ringmaster debug SCENARIO [--from NUMBER | --off] [--url http://127.0.0.1:8080] [--token T]
       ringmaster debug --list
  the node needs RINGMASTER_DEBUG_PORT
  without --token: RINGMASTER_TOKEN, or the demo administrator of a node on this machine`;

/** A node's answer about a run that waits for a debugger. */
interface Debugged {
  readonly scenario: string;
  readonly from: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly port?: number;
}

/** `ringmaster debug`: makes the next run of a scenario of a running node wait for a debugger. */
export async function debug(args: readonly string[]): Promise<number> {
  return usageOf(USAGE, args, async () => {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: {
        from: { type: 'string', default: '' },
        off: { type: 'boolean', default: false },
        list: { type: 'boolean', default: false },
        url: { type: 'string', default: nodeUrl() },
        token: { type: 'string' },
      },
      allowPositionals: true,
    });
    const [scenario = '', ...more] = positionals;
    const isOne = scenario !== '' && more.length === 0;
    if (values.list ? positionals.length > 0 || values.off : !isOne)
      throw new TypeError('name one scenario, or --list');
    if (values.off && values.from !== '') throw new TypeError('--off is for all callers');
    const base = `${values.url}/rest/v1`;
    const path = `${base}/api/debug`;
    const headers = { authorization: `Bearer ${await tokenFor(base, values.token)}` };
    if (values.list) print((await answerOf<Debugged[]>(await ask(path, { headers }))).map(describe));
    else if (values.off) {
      await answerOf(await ask(`${path}/${encodeURIComponent(scenario)}`, { method: 'DELETE', headers }), true);
      print([`The next run of ${scenario} does not wait for a debugger.`]);
    } else {
      const json = { ...headers, 'content-type': 'application/json' };
      const body = JSON.stringify({ scenario, from: values.from });
      const armed = await answerOf<Debugged>(await ask(path, { method: 'POST', headers: json, body }));
      print([`${describe(armed)} It waits a minute for a debugger on port ${armed.port}.`]);
    }
    return 0;
  });
}

function describe({ scenario, from, until }: Debugged): string {
  const whose = from === '' ? 'The next run' : `The next call from ${from}`;
  const clock = new Date(until).toTimeString().slice(0, 8);
  return `${whose} of ${scenario} can be debugged if it starts before ${clock}.`;
}

function print(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join('') || 'No run waits for a debugger.\n');
}

/** @throws TypeError with the node's error message */
async function answerOf<T>(response: Response, isEmpty = false): Promise<T> {
  if (response.ok && isEmpty) return undefined as T;
  const body = (await response.json()) as T & { readonly error_message?: string };
  if (response.ok) return body;
  throw new TypeError(body.error_message ?? `the node answered ${response.status}`);
}
