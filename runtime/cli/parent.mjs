// Notices that whoever started a server is gone. npm starts it by way of a shell, which ends by SIGTERM and passes nothing on.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';

const LOOK_MS = 500;
/** Names the process of the launcher to the process that it starts. */
export const LAUNCHER = 'RINGMASTER_LAUNCHER';
/** An npm script that detaches what it starts. */
const DETACHES = /\b(?:nohup|setsid)\b|&\s*$/;

/**
 * Calls back once when npm, or the launcher, which started this process in the foreground, has ended. Never for a process
 * that was started otherwise: by a shell, nohup, setsid, systemd.
 * @param {() => void} gone
 */
export function onParentGone(gone) {
  const parent = process.ppid;
  const starters = startersOf(parent);
  // It is no setting of the node.
  delete process.env[LAUNCHER];
  if (starters.length === 0) return;
  const timer = setInterval(() => {
    if (process.ppid === parent && starters.every(isAlive)) return;
    clearInterval(timer);
    gone();
  }, LOOK_MS);
  timer.unref();
}

/** The processes without which this one is to end: its parent, and npm when that is the parent of the shell. */
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

/** A process that is gone has an empty command. */
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
    // It is gone, or there is no such program: then nobody is watched.
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
