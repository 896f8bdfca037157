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
  const pool = await openLazySandbox(options);
  try {
    await pool.startAll();
  } catch (error) {
    await pool.close();
    throw error;
  }
  return pool;
}

/** A sandbox whose first process starts when a source is compiled or run, and the others with `startAll`. */
export interface LazyProcesses extends Sandbox, SandboxFigures {
  /**
   * Starts all processes; resolves when they are ready.
   * @throws SandboxError when no process starts
   */
  startAll(): Promise<void>;
}

/**
 * Opens the sandbox without a process. Sources and runs wait until one is ready.
 * @throws SandboxError when the port for debuggers is taken
 */
export async function openLazySandbox(options: SandboxOptions = {}): Promise<LazyProcesses> {
  const pool = new Pool({ ...DEFAULTS, ...options });
  try {
    await pool.listen();
  } catch (error) {
    await pool.close();
    throw error;
  }
  return pool;
}
