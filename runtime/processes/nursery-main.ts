/**
 * The nursery: starts processes for its owner. fork(2) copies a process and blocks all its threads, the longer the more
 * memory it has: some 30 ms for a node with calls. This process has little memory, and nobody waits for its threads.
 * Its argument is its priority, 0 to 19.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { flushCompileCache } from 'node:module';
import type { Socket } from 'node:net';
import os from 'node:os';
import process from 'node:process';
import { killProcess } from './kill-process.ts';
import type { FromNursery, Order, ToNursery } from './nursery-messages.ts';
import { setSessionPriority } from './session-priority.ts';

/** Characters of error output forwarded at once. */
const WORDS = 2000;

interface Child {
  readonly process: ChildProcess;
  readonly group: boolean;
}

const children = new Map<number, Child>();

/** The owner may end at any moment; then this process ends. */
function tell(message: FromNursery, line?: Socket): void {
  process.send?.(message, line, {}, () => undefined);
}

function start(id: number, { program, args, env = {}, nice, group = false }: Order): void {
  const child = spawn(program, args, { env, cwd: '/', stdio: ['pipe', 'ignore', 'pipe', 'pipe'], detached: group });
  // It may have ended already.
  child.stdin?.on('error', () => undefined);
  children.set(id, { process: child, group });
  const gone = (reason: string, ok = false): void => {
    if (children.delete(id)) tell({ type: 'gone', id, reason, ok });
  };
  child.on('error', (error) => gone(error.message));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => tell({ type: 'words', id, text: text.slice(-WORDS) }));
  child.on('exit', (code, signal) => {
    const end = (): void => gone(`ended with ${signal ?? `code ${code}`}`, code === 0);
    // Its error output comes first.
    if (child.stderr?.closed === false) child.stderr.once('close', end);
    else end();
  });
  if (child.pid === undefined) return;
  yieldProcessor(child.pid, nice);
  if (group && process.platform === 'linux')
    setSessionPriority(child.pid, os.getPriority(child.pid)).catch((error: unknown) =>
      tell({ type: 'words', id, text: String(error) }),
    );
  tell({ type: 'started', id, pid: child.pid }, child.stdio[3] as Socket);
}

/** An ended process needs no priority. */
function yieldProcessor(pid: number, nice: number | undefined): void {
  try {
    if (nice !== undefined) os.setPriority(pid, Math.max(os.getPriority(), nice));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SYSTEM_ERROR') throw error;
  }
}

function kill(child: Child | undefined): void {
  if (child?.process.pid !== undefined) killProcess(child.process.pid, child.group);
}

os.setPriority(Math.max(os.getPriority(), Number(process.argv[2] ?? 0)));
process.on('message', (message: ToNursery) => {
  if (message.type === 'start') start(message.id, message);
  // Node.js has closed its side of the line and no longer reads from it.
  else if (message.type === 'got') children.get(message.id)?.process.stdin?.end();
  else kill(children.get(message.id));
});

/** Immediately: an orderly exit waits for V8's helper threads, and there is no state to save. */
function endAtOnce(): void {
  process.kill(process.pid, 'SIGKILL');
}

// The owner has closed the nursery, or has ended. Not `disconnect`: Node.js omits that event while a line is on its way.
process.stdin.on('error', endAtOnce).once('end', endAtOnce).resume();

// Its own end is too sudden to keep compiled code.
flushCompileCache();
