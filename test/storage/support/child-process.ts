import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('./child.ts', import.meta.url));

export interface StorageChild {
  readonly pid: number;
  /** The next line it says. */
  line(): Promise<string>;
  /** Ends it as a power cut would, and waits until it is gone. */
  kill(): Promise<void>;
}

/** Starts `child.ts` on a data directory. */
export function storageChild(dataDir: string, mode: 'write' | 'run' | 'hold'): StorageChild {
  const child: ChildProcess = spawn(process.execPath, [script, dataDir, mode], { stdio: ['pipe', 'pipe', 'inherit'] });
  if (child.stdout === null || child.pid === undefined) throw new Error('no child');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    pid: child.pid,
    async line() {
      const next = await lines.next();
      if (next.done === true) throw new Error('The child has ended.');
      return next.value;
    },
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
