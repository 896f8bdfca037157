/** The owner's side of the nursery. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { killProcess } from './kill-process.ts';
import type { FromNursery, Order, ToNursery } from './nursery-messages.ts';

/** Reports about a process. */
export interface Birth {
  /** It has started. @param line to its file descriptor 3 */
  started(pid: number, line: Socket): void;
  /** Its error output. */
  words(text: string): void;
  /** It has ended; the last report. @param reason e.g. `ended with code 1` @param ok true for code 0 */
  gone(reason: string, ok: boolean): void;
  /** The nursery has ended, so the process's end will not be reported. */
  orphaned(): void;
}

const MAIN = fileURLToPath(new URL('./nursery-main.ts', import.meta.url));
const FLAGS = ['--disable-warning=ExperimentalWarning'];

/** Default priority of processes, behind calls. */
const NICE = 5;

/** Starts processes through a small one, so that its owner never blocks: see `nursery-main.ts`. */
export class Nursery {
  readonly #nice: number;
  readonly #births = new Map<number, Birth>();
  #child: ChildProcess | undefined;
  #lastId = 0;
  #closed = false;

  /** @param nice default priority of started processes: see setpriority(2) */
  constructor(nice = NICE) {
    this.#nice = nice;
  }

  /** Starts the nursery process if necessary, which blocks its owner. Not after `close`. */
  open(): void {
    if (!this.#closed) this.#child ??= this.#open();
  }

  /**
   * Starts a process. After `close` there is none: `birth.gone` reports that soon.
   * @returns the function that kills it
   */
  start(order: Order, birth: Birth): () => void {
    if (this.#closed) {
      queueMicrotask(() => birth.gone('was not started: its nursery is closed', false));
      return () => undefined;
    }
    const id = ++this.#lastId;
    const child = (this.#child ??= this.#open());
    let pid: number | undefined;
    this.#births.set(id, {
      ...bound(birth),
      started: (known, line) => {
        pid = known;
        birth.started(known, line);
      },
    });
    this.#tell(child, { type: 'start', id, ...order });
    return () => {
      if (child === this.#child) this.#tell(child, { type: 'kill', id });
      else if (pid !== undefined) killProcess(pid, order.group ?? false);
    };
  }

  /** Ends the nursery, but not its processes. Reports about them end. */
  close(): void {
    this.#closed = true;
    // The end of its input ends the nursery. Its channel would keep the owner from ending.
    this.#child?.stdin?.destroy();
    if (this.#child?.connected) this.#child.disconnect();
  }

  #open(): ChildProcess {
    const child = spawn(process.execPath, [...FLAGS, MAIN, String(this.#nice)], {
      env: compileCache(),
      cwd: '/',
      stdio: ['pipe', 'ignore', 'ignore', 'ipc'],
    });
    // Nothing is written to it, and its end is reported by `exit`.
    child.stdin?.on('error', () => undefined);
    child.on('message', (message: FromNursery, line?: Socket) => this.#hear(message, line));
    const gone = (): void => this.#gone(child);
    child.on('error', gone);
    child.on('exit', gone);
    return child;
  }

  #tell(child: ChildProcess, message: ToNursery): void {
    // A failure to start is followed by its exit.
    if (child.connected) child.send(message, () => undefined);
  }

  #hear(message: FromNursery, line: Socket | undefined): void {
    const birth = this.#births.get(message.id);
    if (message.type === 'words') birth?.words(message.text);
    else if (message.type === 'gone') {
      this.#births.delete(message.id);
      birth?.gone(message.reason, message.ok);
    } else if (birth && line) {
      birth.started(message.pid, line);
      if (this.#child) this.#tell(this.#child, { type: 'got', id: message.id });
    }
    // The line closed before it arrived: the process is ending.
    else if (!birth) line?.destroy();
  }

  #gone(child: ChildProcess): void {
    if (child !== this.#child) return;
    this.#child = undefined;
    const births = [...this.#births.values()];
    this.#births.clear();
    if (!this.#closed) for (const birth of births) birth.orphaned();
  }
}

/** Compiled code of this process is used, where it is kept: the nursery starts in half the time. */
function compileCache(): NodeJS.ProcessEnv {
  const folder = process.env['NODE_COMPILE_CACHE'];
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
}

function bound(birth: Birth): Omit<Birth, 'started'> {
  return {
    words: (text) => birth.words(text),
    gone: (reason, ok) => birth.gone(reason, ok),
    orphaned: () => birth.orphaned(),
  };
}
