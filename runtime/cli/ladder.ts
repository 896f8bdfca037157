import { writeFile } from 'node:fs/promises';
import process from 'node:process';
import { parseArgs } from 'node:util';
import type { LadderView } from '../ladder/index.ts';
import { ladderHtml } from './ladder/html.ts';
import { ladderPcap } from './ladder/pcap.ts';
import { ladderText } from './ladder/text.ts';
import { ask, nodeUrl, tokenFor } from './node-access.ts';
import { usageOf } from './usage.ts';

const USAGE = `ringmaster ladder CALL [--full | --json] [--html FILE] [--pcap FILE] [--url http://127.0.0.1:8080] [--token T]
  CALL: id of the call (in the history, or "call" in the log), dialogid, Call-ID of a leg (acallid), or id of the operation;
  live, or begun in the last hour
  --full: also the text of each message; --json: as the node answers
  --html FILE: a page for a browser; --pcap FILE: for Wireshark or tshark; FILE may be - for the standard output
  exit code 1: the node knows no such call
  without --token: RINGMASTER_TOKEN, or the demo administrator of a node on this machine`;

/** `ringmaster ladder`: shows the SIP messages of a call of a running node. */
export async function ladder(args: readonly string[]): Promise<number> {
  return usageOf(USAGE, args, async () => {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: {
        full: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        html: { type: 'string' },
        pcap: { type: 'string' },
        url: { type: 'string', default: nodeUrl() },
        token: { type: 'string' },
      },
      allowPositionals: true,
    });
    const [call = '', ...more] = positionals;
    if (call === '' || more.length > 0) throw new TypeError('name one call');
    const base = `${values.url}/rest/v1`;
    const headers = { authorization: `Bearer ${await tokenFor(base, values.token)}` };
    const response = await ask(`${base}/uc/calls/${encodeURIComponent(call)}/ladder`, { headers });
    const answer = (await response.json()) as LadderView & { readonly error_message?: string };
    if (!response.ok) {
      process.stderr.write(`ringmaster: ${problemOf(response.status, answer.error_message, call)}\n`);
      return 1;
    }
    const { html, pcap } = values;
    if (html !== undefined) await write(html, ladderHtml(answer));
    if (pcap !== undefined) await write(pcap, ladderPcap(answer));
    if (values.json) process.stdout.write(`${JSON.stringify(answer, undefined, 2)}\n`);
    else if (html === undefined && pcap === undefined)
      process.stdout.write(
        ladderText(answer, values.full)
          .map((line) => `${line}\n`)
          .join(''),
      );
    return 0;
  });
}

function problemOf(status: number, message: string | undefined, call: string): string {
  if (status === 404) return `the node has had no call ${call} of this domain in the last hour`;
  return message ?? `the node answered ${status}`;
}

/** @throws TypeError for a file that cannot be written */
async function write(file: string, content: string | Buffer): Promise<void> {
  if (file === '-') {
    process.stdout.write(content);
    return;
  }
  try {
    await writeFile(file, content);
  } catch (error) {
    throw new TypeError(`${file} cannot be written: ${(error as Error).message}`, { cause: error });
  }
  process.stdout.write(`${file} is written.\n`);
}
