import process from 'node:process';
import { parseArgs } from 'node:util';
import { ask, nodeUrl, tokenFor } from './node-access.ts';
import { usageOf } from './usage.ts';

const USAGE = `ringmaster debug SCENARIO [--from NUMBER] [--url http://127.0.0.1:8080] [--token T]
  the node needs RINGMASTER_DEBUG_PORT; without --token: RINGMASTER_TOKEN, or the demo administrator`;

/** `ringmaster debug`: makes the next run of a scenario of a running node wait for a debugger. */
export async function debug(args: readonly string[]): Promise<number> {
  return usageOf(USAGE, args, async () => {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: {
        from: { type: 'string', default: '' },
        url: { type: 'string', default: nodeUrl() },
        token: { type: 'string' },
      },
      allowPositionals: true,
    });
    const [scenario, ...more] = positionals;
    if (scenario === undefined || more.length > 0) throw new TypeError('name one scenario');
    const base = `${values.url}/rest/v1`;
    const response = await ask(`${base}/api/debug`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await tokenFor(base, values.token)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ scenario, from: values.from }),
    });
    const { port, error_message: message } = (await response.json()) as { port?: number; error_message?: string };
    if (!response.ok) throw new TypeError(message ?? `the node answered ${response.status}`);
    const whose = values.from === '' ? 'The next run' : `The next call from ${values.from}`;
    process.stdout.write(`${whose} of ${scenario} waits a minute for a debugger on port ${port}.\n`);
    return 0;
  });
}
