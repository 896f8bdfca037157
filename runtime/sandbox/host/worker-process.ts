/** A sandbox process and the connection to it. */
import type { Socket } from 'node:net';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { FrameReader, encodeFrame } from '../frame.ts';
import type { ToHost, ToWorker } from '../messages.ts';
import { putInBackground } from './background.ts';
import { type Nursery, offFirstProcessor } from '../../processes/index.ts';

export interface WorkerLimits {
  /** Memory limit of the process in megabytes. */
  readonly memoryMb: number;
  readonly nice: number;
  /** Initial milliseconds of waiting after which a script releases its isolate. */
  readonly restMs: number;
  /** Milliseconds between two pings. */
  readonly beatMs: number;
  /** Milliseconds without a pong after which the process is killed. */
  readonly silenceMs: number;
  /** Milliseconds until it must be ready. It runs no script before, and a busy machine is slow. */
  readonly startMs: number;
}

export interface WorkerOptions extends WorkerLimits {
  /** Number of processes sharing the processors. */
  readonly workers: number;
  /** True: it leaves the first processor to calls. */
  readonly spareOne: boolean;
  readonly nursery: Nursery;
}

export interface WorkerEvents {
  ready(): void;
  message(message: ToHost, body: string): void;
  /** The process has ended; the last report. */
  exit(reason: string): void;
}

const MAIN = fileURLToPath(new URL('../worker/main.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Folder of the libraries: elsewhere when it is linked into the project. */
const LIBRARIES = fileURLToPath(new URL('..', import.meta.resolve('isolated-vm/package.json')));

/**
 * V8 collects the machine code of WebAssembly, here of the parser that removes types, in a thread of its own, and tells each
 * isolate. When that thread is the last to hold an isolate that is being disposed, it disposes it, and waits for a lock that it
 * has itself: no isolate begins or ends any more. Without the collection some 64 kB of dead code stay.
 */
const KEEPS_COMPILED_WASM = '--no-wasm-code-gc';

/** Largest frame in bytes: a message of the largest size in the widest encoding, and its header. */
const FRAME_BYTES = 16 * 1_048_576;

/** Characters kept from the end of the process's error output, to explain its end. */
const ERROR_OUTPUT_CHARACTERS = 2000;

/**
 * A sandbox process and its line. It has no environment, may read only the program's own files, and cannot start
 * processes or threads.
 */
export class WorkerProcess {
  readonly #kill: () => void;
  readonly #events: WorkerEvents;
  readonly #reader = new FrameReader<ToHost>(FRAME_BYTES);
  readonly #heartbeat: NodeJS.Timeout;
  readonly #exited = Promise.withResolvers<void>();
  #pid: number | undefined;
  #line: Socket | undefined;
  /** Without the nursery, only the line reports its end. */
  #orphaned = false;
  /** Messages waiting for the line. */
  #unsent: Buffer[] = [];
  #errorOutput = '';
  #heard = performance.now();
  /** It has reported that it is ready. */
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
      // isolated-vm's loader detects the libc.
      '--allow-fs-read=/etc/alpine-release',
      '--disable-warning=ExperimentalWarning',
      '--disable-warning=SecurityWarning',
      KEEPS_COMPILED_WASM,
      MAIN,
      JSON.stringify({ memoryMb, frameBytes: FRAME_BYTES, restMs, processes }),
    ];
    const order = { program: process.execPath, args, nice };
    this.#kill = options.nursery.start(options.spareOne ? offFirstProcessor(order) : order, {
      started: (pid, line) => this.#started(pid, line, options),
      words: (text) => {
        this.#errorOutput = (this.#errorOutput + text).slice(-ERROR_OUTPUT_CHARACTERS);
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

  /** Resolves when the process has ended. */
  get exited(): Promise<void> {
    return this.#exited.promise;
  }

  /** The end of the process's error output. */
  get errorOutput(): string {
    return this.#errorOutput;
  }

  send(message: ToWorker, body = ''): void {
    if (this.#gone) return;
    const frame = encodeFrame(message, body);
    if (this.#line) this.#line.write(frame);
    else this.#unsent.push(frame);
  }

  /** Ignored after the process has ended: another may have its id. */
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
    line.on('data', (chunk: Buffer) => this.#receive(chunk, options));
    // A more precise report follows.
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
      // Invalid messages cannot come from our program.
      this.#errorOutput = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.kill();
    }
  }

  #ready({ nice }: WorkerOptions): void {
    this.#isUp = true;
    if (this.#pid === undefined) return;
    putInBackground(this.#pid, nice).then(
      () => this.#events.ready(),
      (error: unknown) => {
        this.#errorOutput = String(error);
        this.kill();
      },
    );
  }

  #beat({ silenceMs, startMs }: WorkerOptions): void {
    if (performance.now() - this.#heard > (this.#isUp ? silenceMs : startMs)) this.kill();
    else this.send({ type: 'ping' });
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
