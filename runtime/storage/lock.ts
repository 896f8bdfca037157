/**
 * Locks the data directory for one process: two PGlite instances in one folder destroy it, and two nodes on PostgreSQL would
 * write the same journals of live calls. The lock is a file created with O_EXCL. A dead owner's lock is removed, a live owner's never.
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
import { type Life, lifeOf, startOf } from './process-life.ts';

export interface DirectoryLock {
  /** Releases the directory; no effect when the lock was lost. */
  release(): void;
}

/** Owner of the lock. A pid alone is ambiguous: it is reused after a reboot, and soon in a container. */
interface Owner {
  readonly pid: number;
  readonly bootId: string | undefined;
  /** As `startOf` tells it. */
  readonly started: string | undefined;
  /** PID namespace: pids of another container are meaningless here. */
  readonly namespace: string | undefined;
  readonly token: string;
}

export const LOCK_FILE = 'storage.lock';

export interface LockTiming {
  readonly heartbeatMs: number;
  /** Missed heartbeats after which an owner in another container counts as dead. */
  readonly missedBeats: number;
}

const TIMING: LockTiming = { heartbeatMs: 2_000, missedBeats: 4 };
/** Longest time between creating the lock file and having written it. */
const HALF_WRITTEN_MS = 500;
/** Longest wait for the threads of a killed owner, and the time between looks. */
const ENDING = { withinMs: 10_000, lookMs: 50 };

function readOptional(read: () => string): string | undefined {
  try {
    return read().trim();
  } catch {
    // Not Linux, or the process has ended: the caller uses the remaining facts.
    return undefined;
  }
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

type Verdict = Life | 'watch';

/** The state of an owner; `watch` when its pid is meaningless here and only the heartbeat decides. */
function judge(owner: Owner, me: Owner): Verdict {
  if (owner.bootId !== me.bootId) return owner.namespace === me.namespace ? 'dead' : 'watch';
  if (owner.namespace !== me.namespace) return 'watch';
  const life = lifeOf(owner.pid);
  if (life === 'dead') return life;
  const started = startOf(owner.pid);
  return owner.started === undefined || started === undefined || owner.started === started ? life : 'dead';
}

function parseOwner(text: string): Owner | undefined {
  try {
    return JSON.parse(text) as Owner;
  } catch {
    // Its creator died between creating and writing the file.
    return undefined;
  }
}

/** Removes a dead owner's lock, but not a lock taken by another process meanwhile. */
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

async function isDead(path: string, owner: Owner, me: Owner, timing: LockTiming): Promise<boolean> {
  const deadline = performance.now() + ENDING.withinMs;
  let verdict = judge(owner, me);
  while (verdict === 'ending' && performance.now() < deadline) {
    await delay(ENDING.lookMs);
    verdict = judge(owner, me);
  }
  if (verdict !== 'watch') return verdict === 'dead';
  const before = modified(path);
  await delay(timing.heartbeatMs * timing.missedBeats);
  return modified(path) === before;
}

/** True when the creator of a lock file does not finish it. */
async function staysUnfinished(path: string, content: string): Promise<boolean> {
  await delay(HALF_WRITTEN_MS);
  // Not its time: creating and writing may fall into one tick of the file system's clock.
  return content === readOptional(() => readFileSync(path, 'utf8'));
}

function modified(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

/** Updates the file's time, for processes in other containers, which cannot see this one. */
function beat(path: string, intervalMs: number): NodeJS.Timeout {
  const timer = setInterval(() => {
    const now = new Date();
    // The file is gone or another process owns it: a stale time is harmless, and release() checks the token.
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
    const owner = parseOwner(content);
    if (owner === undefined) {
      if (await staysUnfinished(path, content)) reap(path, content);
      continue;
    }
    if (!(await isDead(path, owner, me, timing))) throw new StorageLockedError(folder, owner.pid);
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
