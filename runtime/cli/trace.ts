import process from 'node:process';
import { parseArgs } from 'node:util';
import type { RunView } from '../interpreter/run-view.ts';
import { asTest } from '../interpreter/tools/as-test.ts';
import { traceText } from '../interpreter/tools/trace-text.ts';
import { ask, nodeUrl, tokenFor } from './node-access.ts';
import { usageOf } from './usage.ts';

const USAGE = `ringmaster trace ID [--as-test | --json] [--url http://127.0.0.1:8080] [--token T]
  without --token: RINGMASTER_TOKEN, or the demo administrator of a node on this machine`;

/** `ringmaster trace`: shows a live or finished run of a running node, or makes a test of it. */
export async function trace(args: readonly string[]): Promise<number> {
  return usageOf(USAGE, args, async () => {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: {
        'as-test': { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        url: { type: 'string', default: nodeUrl() },
        token: { type: 'string' },
      },
      allowPositionals: true,
    });
    const [id, ...more] = positionals;
    if (id === undefined || more.length > 0) throw new TypeError('name one run');
    const base = `${values.url}/rest/v1`;
    const token = await tokenFor(base, values.token);
    const view = await fetchRun(base, token, id);
    if (values.json) process.stdout.write(`${JSON.stringify(view, undefined, 2)}\n`);
    else if (values['as-test']) process.stdout.write(asTest(view));
    else process.stdout.write(`${traceText(view).join('\n')}\n`);
    return 0;
  });
}

async function fetchRun(base: string, token: string, id: string): Promise<RunView> {
  const response = await ask(`${base}/api/runs/${encodeURIComponent(id)}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (response.status === 404) throw new TypeError(`there is no run ${id}, or its trace is no longer kept`);
  if (!response.ok) throw new TypeError(`the node answered ${response.status}`);
  return (await response.json()) as RunView;
}
