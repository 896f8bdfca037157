import process from 'node:process';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { ask, nodeUrl } from './node-access.ts';
import { usageOf } from './usage.ts';

const USAGE = `ringmaster login DOMAIN LOGIN [--url http://127.0.0.1:8080]
  prints a token for RINGMASTER_TOKEN; the password is asked, or read from standard input
  export RINGMASTER_TOKEN=$(npx ringmaster login shop.example root)`;

/** `ringmaster login`: prints the token of a new session on a running node. Exit code 1 when the node refuses the login. */
export async function login(args: readonly string[]): Promise<number> {
  return usageOf(USAGE, args, async () => {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { url: { type: 'string', default: nodeUrl() } },
      allowPositionals: true,
    });
    const [domain, name, ...more] = positionals;
    if (domain === undefined || name === undefined || more.length > 0) throw new TypeError('name a domain and a login');
    const response = await ask(`${values.url}/rest/v1/iam/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ domain, login: name, pwd: await password(), session_type: 'token' }),
    });
    const body = (await response.json()) as { session_token?: string; error_message?: string };
    if (body.session_token === undefined) {
      process.stderr.write(`ringmaster: ${body.error_message ?? `the node answered ${response.status}`}\n`);
      return 1;
    }
    process.stdout.write(`${body.session_token}\n`);
    return 0;
  });
}

/** A line of standard input; on a terminal it is asked for and not shown. */
async function password(): Promise<string> {
  const { stdin, stderr } = process;
  // Without an output, readline echoes nothing and sets a terminal to raw mode, so neither does the terminal. The prompt comes after
  // that: a quick program answers it at once.
  const lines = createInterface({ input: stdin, terminal: stdin.isTTY });
  if (stdin.isTTY) stderr.write('password: ');
  for await (const line of lines) {
    lines.close();
    if (stdin.isTTY) stderr.write('\n');
    return line;
  }
  throw new TypeError('standard input has no password');
}
