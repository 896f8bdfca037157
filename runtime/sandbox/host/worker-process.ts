import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { FrameReader, encodeFrame } from '../frame.ts';
import type { ToHost, ToWorker } from '../messages.ts';
import { putInBackground } from './background.ts';

export interface WorkerOptions {
  /** Megabytes the process may use. */
  readonly memoryMb: number;
  readonly nice: number;
  /** Milliseconds without a sign of life after which the process is killed. */
  readonly silenceMs: number;
}

export interface WorkerEvents {
  ready(): void;
  message(message: ToHost, body: string): void;
  /** The process is gone; nothing follows. */
  exit(reason: string): void;
}

const MAIN = fileURLToPath(new URL('../worker/main.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Where the libraries are: elsewhere when their folder is only linked into the project. */
const LIBRARIES = fileURLToPath(new URL('..', import.meta.resolve('isolated-vm/package.json')));

/** Longest frame either side accepts, in bytes: a message of the largest size in the widest encoding, and its header. */
const FRAME_BYTES = 16 * 1_048_576;

/** Last characters of the process's error output that are kept, to explain its end. */
const LAST_WORDS = 2000;

/**
 * A sandbox process and the line to it. It has no environment, may read the program's own files only, and may start
 * neither processes nor threads of its own.
 */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #line: Duplex;
  readonly #events: WorkerEvents;
  readonly #reader = new FrameReader<ToHost>(FRAME_BYTES);
  readonly #heartbeat: NodeJS.Timeout;
  readonly #exited = Promise.withResolvers<void>();
  #lastWords = '';
  #heard = performance.now();
  #gone = false;

  constructor(options: WorkerOptions, events: WorkerEvents) {
    this.#events = events;
    const { memoryMb } = options;
    this.#child = spawn(
      process.execPath,
      [
        '--permission',
        '--allow-addons',
        `--allow-fs-read=${ROOT}`,
        `--allow-fs-read=${LIBRARIES}`,
        // isolated-vm's loader looks which libc there is.
        '--allow-fs-read=/etc/alpine-release',
        '--disable-warning=ExperimentalWarning',
        '--disable-warning=SecurityWarning',
        MAIN,
        JSON.stringify({ memoryMb, frameBytes: FRAME_BYTES }),
      ],
      { env: {}, cwd: '/', stdio: ['ignore', 'ignore', 'pipe', 'pipe'] },
    );
    this.#line = this.#child.stdio[3] as Duplex;
    this.#line.on('data', (chunk: Buffer) => this.#receive(chunk, options));
    // The exit that follows says more.
    this.#line.on('error', () => undefined);
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-LAST_WORDS);
    });
    this.#child.on('error', (error) => this.#end(error.message));
    this.#child.on('exit', (code, signal) => this.#end(`the sandbox process ended with ${signal ?? `code ${code}`}`));
    this.#heartbeat = setInterval(() => this.#beat(options.silenceMs), options.silenceMs / 4);
    this.#heartbeat.unref();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Resolves when the process is gone. */
  get exited(): Promise<void> {
    return this.#exited.promise;
  }

  /** What the process wrote last to its error output. */
  get lastWords(): string {
    return this.#lastWords;
  }

  send(message: ToWorker, body = ''): void {
    if (!this.#gone) this.#line.write(encodeFrame(message, body));
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #receive(chunk: Buffer, options: WorkerOptions): void {
    this.#heard = performance.now();
    this.#reader.push(chunk);
    try {
      for (let frame = this.#reader.next(); frame; frame = this.#reader.next()) {
        if (frame.header.type === 'ready') this.#ready(options);
        else this.#events.message(frame.header, frame.body);
      }
    } catch (error) {
      // Whatever talks like that is not the program we started.
      this.#lastWords = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.kill();
    }
  }

  #ready({ nice }: WorkerOptions): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    putInBackground(pid, nice).then(
      () => this.#events.ready(),
      (error: unknown) => {
        this.#lastWords = String(error);
        this.kill();
      },
    );
  }

  #beat(silenceMs: number): void {
    if (performance.now() - this.#heard > silenceMs) this.kill();
    else this.send({ type: 'ping' });
  }

  #end(reason: string): void {
    if (this.#gone) return;
    this.#gone = true;
    clearInterval(this.#heartbeat);
    this.#line.destroy();
    this.#exited.resolve();
    this.#events.exit(reason);
  }
}
