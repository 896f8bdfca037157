/**
 * A node killed at random moments, each followed by a start that must work: `npm run kills -- --help`. A third of the kills hits a
 * node that starts, a third one at rest, a third one with calls. Every other kill hits the node alone, the others all of its processes.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { percentile } from '../bench/support/percentile.ts';
import { RestClient } from '../phones/rest-client.ts';
import { childrenOf } from '../support/children.ts';
import { freeSipPort, freeTcpPort, freeUdpRange } from '../support/ports.ts';

const USAGE = `usage: npm run kills -- [OPTION...]
  --count 200      kills
  --ready 60       seconds until a node must be ready
  --node PROGRAM   Node release that starts the launcher; default: the one that runs this. Other releases than the bundled
                   one start the node as a process of its own
`;
const COMMAND = fileURLToPath(new URL('../../runtime/cli/ringmaster.mjs', import.meta.url));
const OUTPUT_LIMIT = 16 * 1024;
const LOOK_MS = 20;
const PROGRESS_EVERY = 10;
/** A kill comes at most so long after the start of the process, after /healthz is ready, or after the first call. */
const WITHIN_MS = 2000;
const MOMENTS = ['start', 'rest', 'calls'] as const;

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
  readonly output: () => string;
}

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '200' },
    ready: { type: 'string', default: '60' },
    node: { type: 'string', default: process.execPath },
    help: { type: 'boolean', default: false },
  },
});
if (values.help || !/^\d+$/.test(values.count) || !/^\d+$/.test(values.ready)) {
  process.stdout.write(USAGE);
  process.exit(values.help ? 0 : 2);
}
const count = Number(values.count);
const readyMs = Number(values.ready) * 1000;

const work = mkdtempSync(join(tmpdir(), 'ringmaster-kills-'));
const http = await freeTcpPort();
const sip = await freeSipPort();
const { from, to } = await freeUdpRange(100);
const env = {
  PATH: process.env['PATH'],
  RINGMASTER_HTTP_PORT: String(http),
  RINGMASTER_SIP_PORT: String(sip),
  RINGMASTER_RTP_PORTS: `${from}-${to}`,
  RINGMASTER_DATA_DIR: work,
};
/** Leaders of process groups. */
const running = new Set<ChildProcess>();
const seconds: number[] = [];
const failures: string[] = [];

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(summarize()));
process.once('exit', () => {
  for (const child of running) killGroup(child);
  rmSync(work, { recursive: true, force: true });
});

let node = await startReady(0);
for (let kill = 1; kill <= count; kill += 1) {
  const moment = MOMENTS[kill % MOMENTS.length] ?? 'rest';
  if (moment === 'start') {
    await end(node, true);
    node = start();
  }
  if (moment === 'calls') await untilCalls();
  await delay(Math.random() * WITHIN_MS);
  await end(node, kill % 2 === 0);
  node = await startReady(kill);
  if (kill % PROGRESS_EVERY === 0) say(`${kill} of ${count} kills, ${failures.length} starts failed`);
}
node.child.kill('SIGTERM');
const [code] = (await node.ended) as [number | null];
if (code !== 0) failures.push(`the last node ended with ${code} after SIGTERM`);
process.exit(summarize());

function start(): Running {
  const child = spawn(values.node, [COMMAND, 'start'], { detached: true, stdio: ['ignore', 'pipe', 'pipe'], env });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece: Buffer) => (output = (output + piece.toString()).slice(-OUTPUT_LIMIT)));
  const ended = once(child, 'exit').finally(() => running.delete(child));
  return { child, ended, output: () => output };
}

/** Starts until /healthz answers 200. A start that fails is reported, and tried again. */
async function startReady(kill: number): Promise<Running> {
  for (;;) {
    const at = performance.now();
    const started = start();
    const { child } = started;
    while (child.exitCode === null && child.signalCode === null && performance.now() - at < readyMs) {
      if ((await dialogs()) !== undefined) {
        seconds.push((performance.now() - at) / 1000);
        return started;
      }
      await delay(LOOK_MS);
    }
    const what = child.exitCode ?? child.signalCode ?? `still not ready after ${values.ready} s`;
    failures.push(`the start after kill ${kill}: ${what}`);
    say(`${failures.at(-1)}\n${started.output()}`);
    await end(started, true);
    if (failures.length > 10) process.exit(summarize());
  }
}

/** Live calls, undefined when the node is not ready. */
async function dialogs(): Promise<number | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${http}/healthz`, { signal: AbortSignal.timeout(5000) });
    if (!answer.ok) return undefined;
    return ((await answer.json()) as { counts: { dialogs: number } }).counts.dialogs;
  } catch {
    // Not listening.
    return undefined;
  }
}

/** Phones that call until they are killed with the node; resolves when the first call is there. */
async function untilCalls(): Promise<void> {
  await removeContacts();
  const args = ['load', '--sip', `127.0.0.1:${sip}`, '--calls', '200', '--rate', '20', '--talk', '1s'];
  const child = spawn(process.execPath, [COMMAND, ...args], { detached: true, stdio: ['ignore', 'pipe', 'pipe'], env });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece: Buffer) => (output = (output + piece.toString()).slice(-OUTPUT_LIMIT)));
  child.once('exit', () => running.delete(child));
  while ((await dialogs()) === 0 && child.exitCode === null) await delay(LOOK_MS);
  if (child.exitCode !== null) throw new Error(`no call reached the node: ${output}\n${node.output()}`);
}

/** An account takes few contacts, and killed phones leave theirs. */
async function removeContacts(): Promise<void> {
  const account = { domain: 'demo.local', login: 'admin', pwd: 'demo-admin' };
  const rest = await RestClient.login(`http://127.0.0.1:${http}`, account);
  const contacts = (await rest.get('/rest/v1/domain/registrations')).json<{ id: string }[]>();
  for (const { id } of contacts) await rest.send('DELETE', `/rest/v1/domain/registrations/${id}`);
  rest.close();
}

/** Kills the node alone or with all of its processes, and the phones. The launcher of a killed node ends by itself. */
async function end({ child, ended }: Running, all: boolean): Promise<void> {
  if (all) killGroup(child);
  else process.kill(childrenOf(child.pid ?? 0).find(isNode) ?? child.pid ?? 0, 'SIGKILL');
  await ended;
  for (const phones of running) killGroup(phones);
}

/** True for the process of a node that a launcher started. A launcher of the bundled release becomes the node. */
function isNode(pid: number): boolean {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(COMMAND);
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The exit code. */
function summarize(): number {
  const times = [0.5, 0.99, 1].map((part) => (percentile(seconds, part) ?? 0).toFixed(1)).join(' / ');
  say(`seconds until ready, median / 99 % / longest: ${times}`);
  for (const failure of failures) say(failure);
  say(`${seconds.length} starts, ${failures.length} failed`);
  return failures.length === 0 ? 0 : 1;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
