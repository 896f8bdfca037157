/** Starts the sandbox. */
import type { Sandbox, SandboxFigures } from '../sandbox.ts';
import { Pool, type PoolOptions } from './pool.ts';

export type SandboxOptions = Partial<PoolOptions>;

const DEFAULTS: PoolOptions = {
  workers: 2,
  memoryMb: 4096,
  nice: 10,
  restMs: 5000,
  beatMs: 2500,
  silenceMs: 10_000,
  startMs: 120_000,
  drainMs: 600_000,
  spareOne: false,
  debuggerPort: undefined,
  nursery: undefined,
  onDiagnostic: () => undefined,
};

/**
 * Starts the sandbox: `workers` processes for scripts, separate from the process of calls.
 * @throws SandboxError when no process starts
 */
export async function openSandbox(options: SandboxOptions = {}): Promise<Sandbox & SandboxFigures> {
  const pool = new Pool({ ...DEFAULTS, ...options });
  try {
    await pool.open();
  } catch (error) {
    await pool.close();
    throw error;
  }
  return pool;
}
