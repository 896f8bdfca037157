import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { startBench } from './support/fixture.ts';

/** SCHED_RR, in field 41 of /proc/[pid]/stat (proc(5)). */
const ROUND_ROBIN = '2';

/** Threads of this process at real-time priority. */
function atRealTime(): string[] {
  return readdirSync('/proc/self/task').filter((thread) => policyOf(thread) === ROUND_ROBIN);
}

/** A thread of an earlier test may have ended. */
function policyOf(thread: string): string | undefined {
  try {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[38];
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

describe('embedded media server: its thread', () => {
  it('has real-time priority where the system allows it, and keeps its ordinary one elsewhere', async function () {
    if (process.platform !== 'linux') this.skip();
    const isAllowed = spawnSync('chrt', ['--rr', '1', 'true']).status === 0;
    const before = new Set(atRealTime());
    const { server, close } = await startBench();
    try {
      const added = () => atRealTime().filter((thread) => !before.has(thread));
      await eventually(async () => expect(added()).to.have.length(isAllowed ? 1 : 0));
      expect((await server.stats()).channels).to.equal(0);
    } finally {
      await close();
    }
  });
});
