import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SCENARIOS = fileURLToPath(new URL('./sipp/', import.meta.url));

export interface SippRun {
  /** File in test/phones/sipp, without `.xml`. */
  readonly scenario: string;
  /** `ip:port` of the server. */
  readonly server: string;
  /** SIPp's own port. */
  readonly port: number;
  readonly transport?: 'udp' | 'tcp';
  readonly calls?: number;
  /** New calls a second. */
  readonly rate?: number;
  /** Values for `[name]` in the scenario. */
  readonly keys?: Readonly<Record<string, string>>;
  readonly username?: string;
  readonly password?: string;
  readonly timeoutSeconds?: number;
}

export interface SippResult {
  /** 0: every call followed the scenario (SIPp exit codes). */
  readonly code: number;
  /** SIPp's error log, for the failure message. */
  readonly errors: string;
}

/** Runs a SIPp scenario to its end. */
export async function runSipp(program: string, run: SippRun): Promise<SippResult> {
  const folder = await mkdtemp(join(tmpdir(), 'ringmaster-sipp-'));
  try {
    const args = [
      run.server,
      '-sf',
      join(SCENARIOS, `${run.scenario}.xml`),
      '-i',
      '127.0.0.1',
      '-p',
      String(run.port),
      '-m',
      String(run.calls ?? 1),
      '-r',
      String(run.rate ?? 10),
      '-t',
      run.transport === 'tcp' ? 't1' : 'u1',
      '-timeout',
      `${run.timeoutSeconds ?? 20}s`,
      '-timeout_error',
      '-trace_err',
      '-error_file',
      join(folder, 'errors.log'),
      '-nostdin',
      ...(run.username === undefined ? [] : ['-au', run.username, '-s', run.username]),
      ...(run.password === undefined ? [] : ['-ap', run.password]),
      ...Object.entries(run.keys ?? {}).flatMap(([name, value]) => ['-key', name, value]),
    ];
    const child = spawn(program, args, { cwd: folder, stdio: 'ignore', env: { ...process.env, TERM: 'xterm' } });
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    child.once('exit', (code) => resolve(code ?? -1));
    child.once('error', reject);
    const code = await promise;
    const logs = (await readdir(folder)).filter((name) => name.endsWith('.log'));
    const texts = await Promise.all(logs.map((name) => readFile(join(folder, name), 'utf8')));
    return { code, errors: texts.join('\n') };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
