/**
 * The data directory belongs to one process: two PGlite instances on one folder destroy it. The lock is a file made with
 * O_EXCL; a lock of a dead owner is removed, one of a live owner never.
 */
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  linkSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  utimes,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { StorageLockedError, StorageUnavailableError } from './errors.ts';

export interface DirectoryLock {
  /** Gives the directory back; does nothing when the lock was lost. */
  release(): void;
}

/** Who holds the directory. A pid alone is not enough: it is used again after a reboot, and soon in a container. */
interface Owner {
  readonly pid: number;
  readonly bootId: string | undefined;
  /** Clock ticks from boot to the start of the process (proc(5), stat field 22). */
  readonly started: string | undefined;
  /** PID namespace: a pid means nothing in another container. */
  readonly namespace: string | undefined;
  readonly token: string;
}

export const LOCK_FILE = 'storage.lock';

export interface LockTiming {
  readonly heartbeatMs: number;
  /** Beats that an owner in another container may miss before it counts as dead. */
  readonly missedBeats: number;
}

const TIMING: LockTiming = { heartbeatMs: 2_000, missedBeats: 4 };
/** What a maker needs, at the very most, from creating the file to having written it. */
const HALF_WRITTEN_MS = 500;

function readOptional(read: () => string): string | undefined {
  try {
    return read().trim();
  } catch {
    // Not Linux, or the process is gone: the caller goes by what is known.
    return undefined;
  }
}

/** Field 22 of /proc/PID/stat, counted after the command's closing bracket because the command may hold spaces. */
function startOf(pid: number): string | undefined {
  const stat = readOptional(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}

function self(): Owner {
  return {
    pid: process.pid,
    bootId: readOptional(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    started: startOf(process.pid),
    namespace: readOptional(() => readlinkSync('/proc/self/ns/pid')),
    token: randomUUID(),
  };
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

type Verdict = 'alive' | 'dead' | 'watch';

/** Judges an owner; `watch` where its pid says nothing here and only the heartbeat can tell. */
function judge(owner: Owner, me: Owner): Verdict {
  if (owner.bootId !== me.bootId) return owner.namespace === me.namespace ? 'dead' : 'watch';
  if (owner.namespace !== me.namespace) return 'watch';
  if (!exists(owner.pid)) return 'dead';
  const started = startOf(owner.pid);
  return owner.started === undefined || started === undefined || owner.started === started ? 'alive' : 'dead';
}

function parseOwner(text: string): Owner | undefined {
  try {
    return JSON.parse(text) as Owner;
  } catch {
    // Its maker died between creating the file and writing it.
    return undefined;
  }
}

/** Removes a dead owner's lock, and only that one: another process may have done so and taken the lock meanwhile. */
function reap(path: string, content: string): void {
  const aside = `${path}.${randomUUID()}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (readOptional(() => readFileSync(aside, 'utf8')) !== content) linkSync(aside, path);
  rmSync(aside, { force: true });
}

function create(path: string, owner: Owner): boolean {
  let file: number;
  try {
    file = openSync(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw new StorageUnavailableError(`The data directory cannot be locked: ${(error as Error).message}`, {
      cause: error,
    });
  }
  writeSync(file, JSON.stringify(owner));
  closeSync(file);
  return true;
}

async function isDead(path: string, content: string, me: Owner, timing: LockTiming): Promise<boolean> {
  const owner = parseOwner(content);
  const verdict = owner === undefined ? 'watch' : judge(owner, me);
  if (verdict !== 'watch') return verdict === 'dead';
  const before = modified(path);
  await delay(owner === undefined ? HALF_WRITTEN_MS : timing.heartbeatMs * timing.missedBeats);
  return modified(path) === before;
}

function modified(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

/** Keeps the file's time moving for owners in other containers, which cannot see this process. */
function beat(path: string, intervalMs: number): NodeJS.Timeout {
  const timer = setInterval(() => {
    const now = new Date();
    // Gone or not ours any more: the worst is a stale time, and release() looks at the token.
    utimes(path, now, now, () => undefined);
  }, intervalMs);
  return timer.unref();
}

/**
 * Takes the lock of a data directory.
 *
 * @param folder the directory; exists
 * @throws StorageLockedError when a live process holds it
 * @throws StorageUnavailableError when the lock cannot be written
 */
export async function lockDirectory(folder: string, timing: LockTiming = TIMING): Promise<DirectoryLock> {
  const path = join(folder, LOCK_FILE);
  const me = self();
  const mine = JSON.stringify(me);
  while (!create(path, me)) {
    const content = readOptional(() => readFileSync(path, 'utf8'));
    if (content === undefined) continue;
    if (!(await isDead(path, content, me, timing))) throw new StorageLockedError(folder, parseOwner(content)?.pid ?? 0);
    reap(path, content);
  }
  const heartbeat = beat(path, timing.heartbeatMs);
  return {
    release() {
      clearInterval(heartbeat);
      if (readOptional(() => readFileSync(path, 'utf8')) === mine) rmSync(path, { force: true });
    },
  };
}
