import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Clock ticks per second of /proc: 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;
/** State of a listening socket in /proc/net/tcp. */
const LISTEN = '0A';

/** Processor time of a process with all its threads so far, ms, in steps of 10 (proc(5), `stat`). @throws Error when it is gone */
export function cpuMs(pid: number): number {
  return readStat(`/proc/${pid}/stat`).ms;
}

/** Processor time of the living threads of a process so far, ms, with their names; see {@link cpuMs}. */
export function cpuOfThreads(pid: number): (readonly [name: string, ms: number])[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    try {
      const { name, ms } = readStat(`/proc/${pid}/task/${thread}/stat`);
      return [[name, ms] as const];
    } catch {
      // It has ended since.
      return [];
    }
  });
}

/** The flags of a Node process before its script, and its settings of malloc (proc(5), `cmdline` and `environ`). */
export function startedWith(pid: number): { flags: string[]; env: Record<string, string> } {
  const [, ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  const settings = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  return {
    flags: args.slice(
      0,
      args.findIndex((arg) => !arg.startsWith('--')),
    ),
    env: Object.fromEntries(
      settings.filter((line) => line.startsWith('MALLOC_')).map((line) => line.split('=', 2) as [string, string]),
    ),
  };
}

function readStat(path: string): { name: string; ms: number } {
  const stat = readFileSync(path, 'utf8');
  // The command's name is in brackets and may contain blanks.
  const end = stat.lastIndexOf(')');
  const fields = stat.slice(end + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  return { name: stat.slice(stat.indexOf('(') + 1, end), ms: (ticks * 1000) / TICKS_PER_SECOND };
}

/** Processor time that the host of a virtual machine gave to others so far, ms, in steps of 10 (proc(5), `stat`). */
export function stolenMs(): number {
  const [, , , , , , , , stolen] = readFileSync('/proc/stat', 'utf8').split(/\s+/);
  return (Number(stolen) * 1000) / TICKS_PER_SECOND;
}

/** Resident memory of a process, MiB (proc(5), `status`, VmRSS). */
export function residentMiB(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) / 1024;
}

/**
 * The process that listens on a TCP port of IPv4.
 * @throws Error when this user can see none
 */
export function processListeningOn(port: number): number {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1);
  const sockets = rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, local = '', , state]) => local.endsWith(wanted) && state === LISTEN)
    .map((fields) => `socket:[${fields[9]}]`);
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    if (descriptors(pid).some((target) => sockets.includes(target))) return Number(pid);
  }
  throw new Error(`no process of this machine listens on TCP port ${port}`);
}

function descriptors(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  } catch {
    // It ended, or belongs to another user.
    return [];
  }
}
