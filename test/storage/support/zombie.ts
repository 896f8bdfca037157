/** A killed process that nobody waits for, as in a container whose first process does not reap orphans. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';

export interface Zombie {
  readonly pid: number;
  /** Clock ticks from boot to its start (proc(5), field 22). */
  readonly started: string;
  /** Ends its parent, and so also removes the zombie. */
  remove(): void;
}

/** Runs a command until it prints a line, and kills it under a parent that never waits. Linux. */
export async function startZombie(command: readonly string[] = ['sh', '-c', 'echo ready; read line']): Promise<Zombie> {
  // The shell becomes another program, which does not know of the child. The child reads from the pipe, so that it ends with this test.
  const script = 'exec 3<&0; "$@" <&3 & echo $!; exec sleep 600';
  const parent = spawn('sh', ['-c', script, 'sh', ...command], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: parent.stdout });
  const said: string[] = [];
  lines.on('line', (line) => said.push(line));
  while (said.length < 2) await once(lines, 'line');
  const pid = Number(said.find((line) => /^\d+$/.test(line)));
  const stat = (): string[] =>
    readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  process.kill(pid, 'SIGKILL');
  await eventually(() => Promise.resolve(expect(stat()[0]).to.equal('Z')));
  return { pid, started: stat()[19] ?? '', remove: () => parent.kill('SIGKILL') };
}
