import process from 'node:process';
import { parseArgs } from 'node:util';
import { clientOf, type OpenApiDocument } from '../../rest-bridge/index.ts';
import { ask, nodeUrl } from './node-access.ts';
import { usageOf } from './usage.ts';

const USAGE = `ringmaster client [--url http://127.0.0.1:8080] [--token T]
  with --token or RINGMASTER_TOKEN, also for the classes of the domain`;

/** `ringmaster client`: prints a TypeScript client of a running node's REST service. */
export async function client(args: readonly string[]): Promise<number> {
  return usageOf(USAGE, args, async () => {
    const { values } = parseArgs({
      args: [...args],
      options: {
        url: { type: 'string', default: nodeUrl() },
        token: { type: 'string', default: process.env['RINGMASTER_TOKEN'] ?? '' },
      },
    });
    const headers = values.token === '' ? {} : { authorization: `Bearer ${values.token}` };
    const response = await ask(`${values.url}/rest/v1/openapi.json`, { headers });
    if (!response.ok) throw new TypeError(`the node answered ${response.status}`);
    process.stdout.write(clientOf((await response.json()) as OpenApiDocument));
    return 0;
  });
}
