/** The interface between host and isolate. */
import type ivm from 'isolated-vm';
import { ownLines, placesOf } from '../stack.ts';
import type { LogBuffer } from './log-buffer.ts';

/**
 * The only interface between host and isolate. Activations enter as JSON text, and the script's output leaves as JSON
 * text. The host's only objects inside are the frozen functions of inside.js; the isolate's only object outside is a
 * handle to one function of that file. Nothing is passed by reference, and no host function can be called from inside.
 */

/** Milliseconds for reading the output: our own code on bounded data. Long, because the machine may be busy. */
const DRAIN_MS = 10_000;

/** Error messages of isolated-vm and inside.js. */
const TIMED_OUT = 'Script execution timed out.';
const UNSTARTED = '["unstarted"]';
const LIMIT = ' [["limit",';
const ENDED = '.';

const NOTHING = { status: 'fulfilled', value: undefined } as const;

/** Result of an activation. */
export type TurnResult =
  /** @property ended true when the script has ended with nothing left to do */
  | {
      readonly kind: 'output';
      readonly text: string;
      readonly ended: boolean;
      /** Heap and buffers of the isolate, in bytes. */
      readonly bytes: number;
      /** The script exceeded a limit named in the text; its other output does not count. */
      readonly exceeded?: true;
      readonly unhandled?: string;
    }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'threw'; readonly message: string; readonly stack: string }
  /** The isolate was disposed, e.g. for its memory. */
  | { readonly kind: 'disposed' };

export type Activate = (activation?: string, toEnd?: boolean, logBuffer?: SharedArrayBuffer) => string | undefined;
export type StartProgram = (options: ivm.RunOptions) => Promise<unknown>;

/** Handles inside the isolate. */
export interface Inside {
  readonly logBuffer: LogBuffer;
  readonly activate: ivm.Reference<Activate>;
  readonly start: StartProgram;
  /** See `ThreadHold`; undefined without debugging. */
  readonly hold: ivm.Reference<() => void> | undefined;
}

/** A context with a program. */
export class Door {
  readonly #isolate: ivm.Isolate;
  readonly #context: ivm.Context;
  /** Log of the current turn, in case the turn never ends. */
  readonly logBuffer: LogBuffer;
  readonly #activate: ivm.Reference<Activate>;
  readonly #start: StartProgram;
  readonly #hold: ivm.Reference<() => void> | undefined;

  constructor(isolate: ivm.Isolate, context: ivm.Context, { logBuffer, activate, start, hold }: Inside) {
    this.#isolate = isolate;
    this.#context = context;
    this.logBuffer = logBuffer;
    this.#activate = activate;
    this.#start = start;
    this.#hold = hold;
  }

  /**
   * Starts the program; never rejects.
   * @param now the script's clock, milliseconds since the epoch
   * @param jobs JSON texts
   * @param timeout milliseconds; undefined: unlimited
   */
  async start(now: number, jobs: readonly string[], timeout: number | undefined): Promise<TurnResult> {
    const options = limited(timeout);
    // The isolate runs its tasks in order, within one turn of its thread.
    const [announced, started, drained, bytes] = await Promise.allSettled([
      this.#activate.apply(undefined, [activation(now, jobs), false, this.logBuffer.handle()], options),
      this.#start(options),
      this.#drain(),
      this.#bytes(),
    ]);
    return this.#outcome(drained, started, announced, bytes);
  }

  /**
   * Like `start`, for a block that probably ends in this turn and reports its end: each task of an isolate costs more
   * than a small block.
   * @param meanwhile called once the isolate has its task, to give it the next one
   */
  async startToEnd(
    now: number,
    jobs: readonly string[],
    timeout: number | undefined,
    meanwhile: () => void,
  ): Promise<TurnResult> {
    const options = { ...limited(timeout), result: { promise: true, copy: true } } as const;
    const turn: { settled?: PromiseSettledResult<string> } = {};
    const inside = [activation(now, jobs), true, this.logBuffer.handle()] as const;
    (this.#activate.apply(undefined, [...inside], options) as unknown as Promise<string>).then(
      (value) => (turn.settled = { status: 'fulfilled', value }),
      (reason: unknown) => (turn.settled = { status: 'rejected', reason }),
    );
    const looked = this.#bytes();
    meanwhile();
    // Everything before the check has been reported, unless the script continues.
    const [bytes, started] = await Promise.allSettled([looked, this.#start(limited(timeout))]);
    const { settled = NOTHING } = turn;
    if (settled.status === 'fulfilled' && settled.value !== undefined && started.status === 'fulfilled')
      return this.#outcome(settled, started, NOTHING, bytes);
    const [drained] = await Promise.allSettled([this.#drain()]);
    return this.#outcome(drained, started, settled, bytes);
  }

  /** Continues the program, like `start`. */
  async activate(now: number, jobs: readonly string[], timeout: number | undefined): Promise<TurnResult> {
    const [activated, drained, bytes] = await Promise.allSettled([
      this.#activate.apply(undefined, [activation(now, jobs)], limited(timeout)),
      this.#drain(),
      this.#bytes(),
    ]);
    return this.#outcome(drained, activated, NOTHING, bytes);
  }

  /** Stops the isolate's thread for a debugger: see `ThreadHold`. Rejects when the isolate was disposed. */
  async hold(): Promise<void> {
    await this.#hold?.apply(undefined, []);
  }

  /** Frees the context; the isolate stays. */
  close(): void {
    this.#activate.release();
    this.#context.release();
  }

  async #drain(): Promise<string> {
    return (await this.#activate.apply(undefined, [], { timeout: DRAIN_MS })) ?? '';
  }

  /** Heap and buffers of the isolate, in bytes. */
  async #bytes(): Promise<number> {
    const { used_heap_size: heap, externally_allocated_size: buffers } = await this.#isolate.getHeapStatistics();
    return heap + buffers;
  }

  #outcome(
    drained: PromiseSettledResult<string>,
    turn: PromiseSettledResult<unknown>,
    before: PromiseSettledResult<unknown>,
    bytes: PromiseSettledResult<number>,
  ): TurnResult {
    const held = bytes.status === 'fulfilled' ? bytes.value : 0;
    return (
      exceeded(drained, held) ??
      this.#failure(before) ??
      this.#failure(turn) ??
      this.#output(drained, turn, before, held)
    );
  }

  /** A script can throw such errors itself, but then ends only itself. */
  #failure(result: PromiseSettledResult<unknown>): TurnResult | undefined {
    if (this.#isolate.isDisposed) return { kind: 'disposed' };
    return result.status === 'rejected' && messageOf(result.reason) === TIMED_OUT ? { kind: 'timeout' } : undefined;
  }

  /** A rejection without a failure: the source threw during loading, or the script left a rejection unhandled. */
  #output(
    drained: PromiseSettledResult<string>,
    turn: PromiseSettledResult<unknown>,
    before: PromiseSettledResult<unknown>,
    bytes: number,
  ): TurnResult {
    const failed = this.#failure(drained);
    if (failed) return failed;
    if (drained.status === 'rejected') return thrown(drained.reason);
    if (turn.status === 'rejected' && drained.value.includes(UNSTARTED)) return thrown(turn.reason);
    const [rejected] = [turn, before].filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
    return {
      kind: 'output',
      text: drained.value.slice(1),
      ended: drained.value.startsWith(ENDED),
      bytes,
      ...(rejected === undefined ? {} : { unhandled: placedMessage(rejected.reason) }),
    };
  }
}

function limited(timeout: number | undefined): { timeout?: number } {
  return timeout === undefined ? {} : { timeout };
}

function activation(now: number, jobs: readonly string[]): string {
  return `[${now},${jobs.join(',')}]`;
}

/** A script that continued after exceeding a limit ends with that limit, not with a timeout. */
function exceeded(drained: PromiseSettledResult<string>, bytes: number): TurnResult | undefined {
  const isLimit = drained.status === 'fulfilled' && drained.value.startsWith(LIMIT);
  return isLimit ? { kind: 'output', text: drained.value.slice(1), ended: false, bytes, exceeded: true } : undefined;
}

function thrown(reason: unknown): TurnResult {
  return {
    kind: 'threw',
    message: messageOf(reason),
    stack: reason instanceof Error ? (reason.stack ?? '').slice(0, 4000) : '',
  };
}

/** The message, and the author's position of the error. */
function placedMessage(reason: unknown): string {
  const [place] = reason instanceof Error ? placesOf(ownLines(reason.stack ?? '')) : [];
  return place === undefined ? messageOf(reason) : `${messageOf(reason)} (${place.replace(/^.* \((.*)\)$/, '$1')})`;
}

function messageOf(reason: unknown): string {
  return (reason instanceof Error ? reason.message : String(reason)).slice(0, 2000);
}
