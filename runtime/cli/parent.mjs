// Detects the end of the process that started a server. npm starts it through a shell, which does not pass SIGTERM on.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';

const LOOK_MS = 500;
/** Environment variable with the launcher's process id. */
export const LAUNCHER = 'RINGMASTER_LAUNCHER';
/** An npm script that detaches its process. */
const DETACHES = /\b(?:nohup|setsid)\b|&\s*$/;

/**
 * Calls back once after the end of npm or the launcher that started this process in the foreground. Never for a process
 * with another parent: a shell, nohup, setsid, systemd.
 * @param {() => void} gone
 */
export function onParentGone(gone) {
  const parent = process.ppid;
  const starters = startersOf(parent);
  // It is not a setting of the node.
  delete process.env[LAUNCHER];
  if (starters.length === 0) return;
  const timer = setInterval(() => {
    if (process.ppid === parent && starters.every(isAlive)) return;
    clearInterval(timer);
    gone();
  }, LOOK_MS);
  timer.unref();
}

/** The processes whose end also ends this one: its parent, and npm when it is the parent of the shell. */
function startersOf(parent) {
  if (process.env[LAUNCHER] === String(parent)) return [parent];
  if (process.env.npm_lifecycle_event === undefined || DETACHES.test(process.env.npm_lifecycle_script ?? '')) return [];
  const { command, ppid } = describe(parent);
  if (isNpm(command)) return [parent];
  return /^\S*sh -c /.test(command) && isNpm(describe(ppid).command) ? [parent, ppid] : [];
}

/** npm calls itself `npm start`, `npm run start`, and as npx `npm exec ringmaster start`. */
function isNpm(command) {
  return /^npm( |$)/.test(command);
}

/** The command of an ended process is empty. */
function describe(pid) {
  try {
    if (process.platform === 'linux') {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      const ppid = /^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
      return { command, ppid: Number(ppid) };
    }
    const [, ppid, command] = /^\s*(\d+) (.*)/.exec(
      execFileSync('ps', ['-o', 'ppid=,command=', '-p', String(pid)], { encoding: 'utf8' }),
    ) ?? ['', '0', ''];
    return { command, ppid: Number(ppid) };
  } catch {
    // The process has ended, or `ps` is missing: nothing is watched.
    return { command: '', ppid: 0 };
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
