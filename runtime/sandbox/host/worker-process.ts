import type { Socket } from 'node:net';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { FrameReader, encodeFrame } from '../frame.ts';
import type { ToHost, ToWorker } from '../messages.ts';
import { putInBackground } from './background.ts';
import { idleOrder, type Nursery } from '../../processes/index.ts';

export interface WorkerLimits {
  /** Megabytes the process may use. */
  readonly memoryMb: number;
  readonly nice: number;
  /** Milliseconds that a script waits before it gives up its isolate, the first time. */
  readonly restMs: number;
  /** Milliseconds between two times that it is asked for a sign of life. */
  readonly beatMs: number;
  /** Milliseconds without one after which the process is killed. */
  readonly silenceMs: number;
  /** Milliseconds until it must be ready. No script is in it until then, and a busy machine takes its time. */
  readonly startMs: number;
}

export interface WorkerOptions extends WorkerLimits {
  /** How many of them share the processors. */
  readonly workers: number;
  /** It begins under SCHED_IDLE. */
  readonly isIdle: boolean;
  readonly nursery: Nursery;
}

export interface WorkerEvents {
  /** It has a process id, and does nothing else yet. */
  started(pid: number): void;
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
  readonly #kill: () => void;
  readonly #events: WorkerEvents;
  readonly #reader = new FrameReader<ToHost>(FRAME_BYTES);
  readonly #heartbeat: NodeJS.Timeout;
  readonly #exited = Promise.withResolvers<void>();
  #pid: number | undefined;
  #line: Socket | undefined;
  /** Nobody will tell of its end but the line. */
  #orphaned = false;
  /** Sent before there is a line. */
  #unsent: Buffer[] = [];
  #lastWords = '';
  #heard = performance.now();
  #asked = 0;
  /** It has said that it is ready. */
  #isUp = false;
  #gone = false;

  constructor(options: WorkerOptions, events: WorkerEvents) {
    this.#events = events;
    const { memoryMb, restMs, nice, workers: processes } = options;
    const args = [
      '--permission',
      '--allow-addons',
      `--allow-fs-read=${ROOT}`,
      `--allow-fs-read=${LIBRARIES}`,
      // isolated-vm's loader looks which libc there is.
      '--allow-fs-read=/etc/alpine-release',
      '--disable-warning=ExperimentalWarning',
      '--disable-warning=SecurityWarning',
      MAIN,
      JSON.stringify({ memoryMb, frameBytes: FRAME_BYTES, restMs, processes }),
    ];
    const order = { program: process.execPath, args, nice };
    this.#kill = options.nursery.start(options.isIdle ? idleOrder(order) : order, {
      started: (pid, line) => this.#started(pid, line, options),
      words: (text) => {
        this.#lastWords = (this.#lastWords + text).slice(-LAST_WORDS);
      },
      gone: (reason) => this.#end(`the sandbox process ${reason}`),
      orphaned: () => {
        this.#orphaned = true;
        if (this.#line?.destroyed !== false) this.#end('the sandbox process is gone');
      },
    });
    this.#heartbeat = setInterval(() => this.#beat(options), options.beatMs);
    this.#heartbeat.unref();
  }

  get pid(): number | undefined {
    return this.#pid;
  }

  /** It was asked for a sign of life and gave none yet. */
  get isAsked(): boolean {
    return this.#asked > this.#heard;
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
    if (this.#gone) return;
    const frame = encodeFrame(message, body);
    if (this.#line) this.#line.write(frame);
    else this.#unsent.push(frame);
  }

  /** Does nothing when the process is gone: another may have its id by then. */
  kill(): void {
    if (!this.#gone) this.#kill();
  }

  #started(pid: number, line: Socket, options: WorkerOptions): void {
    if (this.#gone) {
      line.destroy();
      return;
    }
    this.#pid = pid;
    this.#line = line;
    this.#events.started(pid);
    line.on('data', (chunk: Buffer) => this.#receive(chunk, options));
    // What follows says more.
    line.on('error', () => undefined);
    line.on('close', () => {
      if (this.#orphaned) this.#end('the sandbox process is gone');
    });
    for (const frame of this.#unsent.splice(0)) line.write(frame);
  }

  #receive(chunk: Buffer, options: WorkerOptions): void {
    this.#heard = performance.now();
    this.#reader.push(chunk);
    try {
      for (let frame = this.#reader.next(); frame; frame = this.#reader.next()) {
        if (frame.header.type === 'ready') this.#ready(options);
        this.#events.message(frame.header, frame.body);
      }
    } catch (error) {
      // Whatever talks like that is not the program we started.
      this.#lastWords = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.kill();
    }
  }

  #ready({ nice }: WorkerOptions): void {
    this.#isUp = true;
    if (this.#pid === undefined) return;
    putInBackground(this.#pid, nice).then(
      () => this.#events.ready(),
      (error: unknown) => {
        this.#lastWords = String(error);
        this.kill();
      },
    );
  }

  #beat({ silenceMs, startMs }: WorkerOptions): void {
    if (performance.now() - this.#heard > (this.#isUp ? silenceMs : startMs)) this.kill();
    else {
      this.#asked = performance.now();
      this.send({ type: 'ping' });
    }
  }

  #end(reason: string): void {
    if (this.#gone) return;
    this.#gone = true;
    clearInterval(this.#heartbeat);
    this.#line?.destroy();
    this.#exited.resolve();
    this.#events.exit(reason);
  }
}
