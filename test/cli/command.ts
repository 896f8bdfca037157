import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const LAUNCHER = fileURLToPath(new URL('../../runtime/cli/ringmaster.mjs', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A `ringmaster` command as a user runs it in a terminal, in an empty folder of its own. */
export class Command {
  readonly ended: Promise<Ended>;
  readonly #child;
  readonly #output = { out: '', err: '' };
  readonly #watchers = new Set<() => void>();

  private constructor(
    folder: string,
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    input: string | undefined,
  ) {
    this.#child = spawn(process.execPath, args, {
      cwd: folder,
      env: { PATH: process.env['PATH'], ...env },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    this.#child.stdin?.end(input);
    for (const name of ['out', 'err'] as const) {
      (name === 'out' ? this.#child.stdout : this.#child.stderr)?.on('data', (chunk: Buffer) => {
        this.#output[name] += chunk.toString();
        for (const watcher of this.#watchers) watcher();
      });
    }
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code) => {
        for (const watcher of this.#watchers) watcher();
        resolve(rm(folder, { recursive: true, force: true }).then(() => ({ code, ...this.#output })));
      });
    });
  }

  /**
   * @param flags of Node.js
   * @param input on its standard input; absent: none
   */
  static async run(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    flags: readonly string[] = [],
    input?: string,
  ): Promise<Command> {
    return new Command(await mkdtemp(join(tmpdir(), 'ringmaster-cli-')), [...flags, LAUNCHER, ...args], env, input);
  }

  /** Settles when the standard output matches; rejects when the command ends first. */
  printed(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(this.#output.out);
        if (match === null && this.#child.exitCode === null) return;
        this.#watchers.delete(look);
        if (match !== null) resolve(match);
        else reject(new Error(`ended without printing ${pattern}: ${this.#output.out}${this.#output.err}`));
      };
      this.#watchers.add(look);
      look();
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  terminate(): Promise<Ended> {
    this.#child.kill('SIGTERM');
    return this.ended;
  }
}
