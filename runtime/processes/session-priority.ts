import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Linux takes ten such changes a second of all users together, root's apart. */
const AGAIN_MS = 150;
const TRIES = 40;

/** Not a system with such groups, not ours to change, or gone by now. */
const EXPECTED = ['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'EINVAL'];

/**
 * Puts the session of a process behind others: Linux may share the processors among sessions first
 * (`kernel.sched_autogroup_enabled`), and among the processes of one by their own priorities only. Elsewhere nothing is done.
 * @param pid the leader of a session
 * @param nice -20 to 19
 * @param write stands in for writing to a file
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
