import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SCENARIOS = fileURLToPath(new URL('../calls/', import.meta.url));

export interface LoadOptions {
  /** Path of SIPp. */
  readonly program: string;
  /** File in test/bench/calls, without `.xml`. */
  readonly scenario: 'caller' | 'called' | 'overload';
  /** `ip:port` of the server; none for the called party. */
  readonly server?: string;
  /** SIPp's own port. */
  readonly port: number;
  readonly calls: number;
  /** New calls per second. */
  readonly rate?: number;
  /** Duration of the call at the caller, ms. */
  readonly talkMs?: number;
  /** Values for `[name]` in the scenario. */
  readonly keys: Readonly<Record<string, string>>;
  /** Seconds after which SIPp abandons the remaining calls. */
  readonly timeoutSeconds: number;
}

/** The statistics of a SIPp run (SIPp documentation, "Statistics"). */
export interface LoadResult {
  readonly succeeded: number;
  readonly failed: number;
  /** Messages sent more than once, and received more than once. */
  readonly retransmissions: number;
  /** Milliseconds from INVITE to 200 of each call, in steps of SIPp's clock: 4 ms. */
  readonly answerTimes: readonly number[];
  /** The same from INVITE to 180. */
  readonly ringingTimes: readonly number[];
  /** The same from INVITE to 503, of `overload` alone. */
  readonly refusalTimes: readonly number[];
}

/** A SIPp process that plays one side of many calls over UDP. */
export class SippLoad {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #folder: string;

  private constructor(child: ChildProcess, folder: string) {
    this.#child = child;
    this.#exited = once(child, 'exit');
    this.#folder = folder;
  }

  static async start(options: LoadOptions): Promise<SippLoad> {
    const folder = await mkdtemp(join(tmpdir(), 'ringmaster-bench-'));
    // biome-ignore format: an option and its value on one line
    const args = [
      ...(options.server === undefined ? [] : [options.server]),
      '-sf', join(SCENARIOS, `${options.scenario}.xml`),
      '-i', '127.0.0.1', '-p', String(options.port), '-t', 'u1', '-nostdin',
      '-m', String(options.calls), '-l', '10000', '-timeout', `${options.timeoutSeconds}s`,
      ...(options.rate === undefined ? [] : ['-r', String(options.rate)]),
      ...(options.talkMs === undefined ? [] : ['-d', String(options.talkMs)]),
      '-trace_stat', '-fd', '1', '-trace_counts', '-trace_rtt', '-rtt_freq', '1',
      ...Object.entries(options.keys).flatMap(([name, value]) => ['-key', name, value]),
    ];
    const env = { ...process.env, TERM: 'xterm' };
    return new SippLoad(spawn(options.program, args, { cwd: folder, stdio: 'ignore', env }), folder);
  }

  /** Waits at most `withinMs` for the end of the run, and reads its statistics. */
  async result(withinMs: number): Promise<LoadResult> {
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), withinMs);
    try {
      if (this.#child.exitCode === null && this.#child.signalCode === null) await this.#exited;
      const [statistics, counts, times] = await Promise.all(
        ['_.csv', '_counts.csv', '_rtt.csv'].map((end) => this.#read(end)),
      );
      const last = lastRow(statistics ?? '');
      const ofMessages = [...lastRow(counts ?? '')].filter(([name]) => name.endsWith('_Retrans'));
      return {
        succeeded: last.get('SuccessfulCall(C)') ?? 0,
        failed: last.get('FailedCall(C)') ?? 0,
        // The message counts include duplicates, but are only written at a regular end.
        retransmissions: Math.max(
          last.get('Retransmissions(C)') ?? 0,
          ofMessages.reduce((sum, [, count]) => sum + count, 0),
        ),
        answerTimes: timesOf('1', times ?? ''),
        ringingTimes: timesOf('2', times ?? ''),
        refusalTimes: timesOf('3', times ?? ''),
      };
    } finally {
      clearTimeout(timer);
      await rm(this.#folder, { recursive: true, force: true });
    }
  }

  async #read(end: string): Promise<string> {
    const name = (await readdir(this.#folder)).find((file) => file.endsWith(end));
    return name === undefined ? '' : readFile(join(this.#folder, name), 'utf8');
  }
}

function rows(csv: string): string[][] {
  const lines = csv.trim().split('\n').slice(1);
  return lines.map((line) => line.split(';'));
}

/** The second column of the rows of a timer. */
function timesOf(timer: string, csv: string): number[] {
  return rows(csv).flatMap(([, time, name]) => (name?.trim() === timer ? [Number(time)] : []));
}

/** The last line of a table, by column name: the numeric totals. */
function lastRow(csv: string): Map<string, number> {
  const names = (csv.split('\n')[0] ?? '').split(';');
  const values = rows(csv).at(-1) ?? [];
  return new Map(names.map((name, index) => [name, Number(values[index])]));
}
