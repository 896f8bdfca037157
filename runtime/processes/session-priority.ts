/** Priority of Linux sessions. */
import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Linux permits ten such changes a second for all users but root. */
const AGAIN_MS = 150;
const TRIES = 40;

/** No autogroups on this system, no permission, or the process has ended. */
const EXPECTED = ['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'EINVAL'];

/**
 * Sets the priority of a process's session. Linux may divide the processors among sessions first
 * (`kernel.sched_autogroup_enabled`); the priorities of processes then apply within a session only. No effect
 * elsewhere.
 * @param pid the session's leader
 * @param nice -20 to 19
 * @param write replaces writing to a file
 */
export async function setSessionPriority(
  pid: number,
  nice: number,
  write: typeof writeFile = writeFile,
): Promise<void> {
  for (let left = TRIES; left > 0; left -= 1) {
    try {
      // oxlint-disable-next-line eslint/no-await-in-loop -- again only when it was too soon
      await write(`/proc/${pid}/autogroup`, String(nice));
      return;
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (EXPECTED.includes(code)) return;
      if (code !== 'EAGAIN') throw error;
      // oxlint-disable-next-line eslint/no-await-in-loop
      await sleep(AGAIN_MS, undefined, { ref: false });
    }
  }
}
