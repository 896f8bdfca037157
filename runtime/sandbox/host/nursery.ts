import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { FromNursery, ToNursery } from '../nursery/messages.ts';

/** What the nursery has to say of a process. */
export interface Birth {
  /** It runs. @param line to its file descriptor 3 */
  started(pid: number, line: Socket): void;
  /** It wrote to its error output. */
  words(text: string): void;
  /** It is gone; nothing follows. */
  gone(reason: string): void;
  /** Nobody will tell of its end: the nursery is gone. */
  orphaned(): void;
}

const MAIN = fileURLToPath(new URL('../nursery/main.ts', import.meta.url));
/** It holds a few strings. */
const SMALL = ['--max-old-space-size=24', '--max-semi-space-size=1', '--disable-warning=ExperimentalWarning'];

/** Starts sandbox processes by way of a small process, so that the host never stands still for it: see `nursery/main.ts`. */
export class Nursery {
  readonly #nice: number;
  readonly #births = new Map<number, Birth>();
  #child: ChildProcess | undefined;
  #lastId = 0;
  #closed = false;

  /** @param nice priority of the processes, 0 to 19 */
  constructor(nice: number) {
    this.#nice = nice;
  }

  /**
   * Starts a process of Node.js without an environment.
   * @returns kills it
   */
  start(args: readonly string[], birth: Birth): () => void {
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
    this.#tell(child, { type: 'start', id, args });
    return () => {
      if (child === this.#child) this.#tell(child, { type: 'kill', id });
      else if (pid !== undefined) kill(pid);
    };
  }

  /** Ends the nursery, not what it has started. */
  close(): void {
    this.#closed = true;
    if (this.#child?.connected) this.#child.disconnect();
  }

  #open(): ChildProcess {
    const child = spawn(process.execPath, [...SMALL, MAIN, String(this.#nice)], {
      env: {},
      cwd: '/',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    child.on('message', (message: FromNursery, line?: Socket) => this.#hear(message, line));
    const gone = (): void => this.#gone(child);
    child.on('error', gone);
    child.on('exit', gone);
    return child;
  }

  #tell(child: ChildProcess, message: ToNursery): void {
    // One that is gone is told of by its exit.
    if (child.connected) child.send(message, () => undefined);
  }

  #hear(message: FromNursery, line: Socket | undefined): void {
    const birth = this.#births.get(message.id);
    if (message.type === 'words') birth?.words(message.text);
    else if (message.type === 'gone') {
      this.#births.delete(message.id);
      birth?.gone(message.reason);
    } else if (birth && line) birth.started(message.pid, line);
    // Its line was gone before it came here: the process is at its end.
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

function bound(birth: Birth): Omit<Birth, 'started'> {
  return {
    words: (text) => birth.words(text),
    gone: (reason) => birth.gone(reason),
    orphaned: () => birth.orphaned(),
  };
}

/** One that is gone already needs nothing. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
