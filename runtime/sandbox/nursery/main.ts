/**
 * The nursery: starts sandbox processes for the host. A process that starts another is copied (fork(2)), and stands still
 * meanwhile with all its threads, the longer the more memory it has: some 30 ms for a node with calls. This one has little,
 * and nobody waits for its threads. Its argument is the priority of what it starts, 0 to 19.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import os from 'node:os';
import process from 'node:process';
import type { FromNursery, ToNursery } from './messages.ts';

/** Characters of error output that are passed on at once. */
const WORDS = 2000;

const children = new Map<number, ChildProcess>();

/** The host may be gone at any moment; then this process ends. */
function tell(message: FromNursery, line?: Socket): void {
  process.send?.(message, line, {}, () => undefined);
}

function start(id: number, args: readonly string[]): void {
  const child = spawn(process.execPath, args, { env: {}, cwd: '/', stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
  children.set(id, child);
  const gone = (reason: string): void => {
    if (children.delete(id)) tell({ type: 'gone', id, reason });
  };
  child.on('error', (error) => gone(error.message));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => tell({ type: 'words', id, text: text.slice(-WORDS) }));
  child.on('exit', (code, signal) => {
    const reason = `the sandbox process ended with ${signal ?? `code ${code}`}`;
    // Its last words come before.
    if (child.stderr?.closed === false) child.stderr.once('close', () => gone(reason));
    else gone(reason);
  });
  if (child.pid !== undefined) tell({ type: 'started', id, pid: child.pid }, child.stdio[3] as Socket);
}

// What it starts takes this over, from the first moment on.
os.setPriority(Math.max(os.getPriority(), Number(process.argv[2] ?? 0)));
process.on('message', (message: ToNursery) => {
  if (message.type === 'start') start(message.id, message.args);
  else children.get(message.id)?.kill('SIGKILL');
});
process.once('disconnect', () => process.exit(0));
