/** Turns of a run in its isolate. */
import type { LimitName } from '../limits.ts';
import type { Entry, RunUsage } from '../messages.ts';
import type { TurnResult } from './door.ts';
import type { InspectorLink } from './inspector-link.ts';
import type { MemoryWatch, Watched } from './memory-watch.ts';
import { BUSY_FACTOR, type ProcessorWatch, type Turn } from './processor-watch.ts';
import { ScriptTime, type TimeLimit } from './script-time.ts';
import type { Seat } from './seats.ts';

/** Reports about a turn in progress. */
export interface ActivityListener {
  /** It exceeded a limit. */
  readonly exceeded: (limit: LimitName) => void;
  /** Called periodically while it is in progress. */
  readonly goesOn: () => void;
}

export interface TurnOptions {
  /** The script's clock, milliseconds since the epoch. */
  readonly now: number;
  readonly jobs: readonly string[];
  /** True when it starts the script. */
  readonly first: boolean;
  /** True when time limits apply. */
  readonly limited: boolean;
  readonly inspector: InspectorLink | undefined;
}

const MB = 1_048_576;

/** Runs the turns of one run in its isolate, one after another: admits, measures and limits them from outside. */
export class Activity implements Watched {
  readonly memoryMb: number;
  readonly #memory: MemoryWatch;
  readonly #processor: ProcessorWatch;
  readonly #listener: ActivityListener;
  readonly #time: ScriptTime;
  /** The turn in progress, and its watch. */
  #turn: Turn | undefined;
  #watched = false;
  #seat: Seat | undefined;
  #activations: number;
  #memoryBytes: number;

  constructor(
    settings: Entry,
    watches: { readonly watch: MemoryWatch; readonly processor: ProcessorWatch },
    listener: ActivityListener,
    past: RunUsage = { cpuMs: 0, activations: 0, memoryBytes: 0 },
  ) {
    this.memoryMb = settings.memoryMb;
    this.#memory = watches.watch;
    this.#processor = watches.processor;
    this.#listener = listener;
    this.#time = new ScriptTime(settings, past.cpuMs);
    this.#activations = past.activations;
    this.#memoryBytes = past.memoryBytes;
  }

  /** True while a turn is in the isolate, even after the end of the run. */
  get isInside(): boolean {
    return this.#turn !== undefined;
  }

  get isGone(): boolean {
    return this.#seat?.room.isolate.isDisposed ?? false;
  }

  exceededMemory(): void {
    this.#listener.exceeded('memoryMb');
  }

  /** Usage, including the turn in progress as far as known outside of the isolate. */
  get used(): RunUsage {
    const turn = this.#watched ? this.#turn : undefined;
    return {
      cpuMs: this.#time.used + (turn ? this.#processor.used(turn) : 0),
      activations: this.#activations,
      memoryBytes: this.#memoryBytes + (turn ? this.#memory.grownBy(this) : 0),
    };
  }

  /** Usage of a run ended for its memory: it reached the limit. */
  get usedUp(): RunUsage {
    const { memoryBytes, ...used } = this.used;
    return { ...used, memoryBytes: Math.max(memoryBytes, this.memoryMb * MB) };
  }

  /** The time limit exceeded by the turns so far. */
  get exceeded(): LimitName | undefined {
    return this.#time.exceeded;
  }

  /** Repeats a turn that was counted when it first ran. */
  async again(seat: Seat, options: Pick<TurnOptions, 'now' | 'jobs' | 'first'>): Promise<TurnResult> {
    // It was within its limits then, and is measured again.
    const { result } = await this.#enter(seat, this.#time.limitAgain, {
      ...options,
      limited: true,
      inspector: undefined,
    });
    return result;
  }

  async turn(seat: Seat, options: TurnOptions): Promise<TurnResult> {
    this.#activations++;
    const { result, usedMs } = await this.#enter(seat, this.#time.limit, options);
    this.#time.count(usedMs);
    if (result.kind === 'output') this.#memoryBytes = result.bytes;
    return result;
  }

  /** Applies time limits to the turn in progress, which had none. */
  limit(): void {
    if (this.#turn && this.#seat && !this.#watched) this.#watch(this.#turnOf(this.#seat, this.#time.limit));
  }

  async #enter(seat: Seat, limit: TimeLimit, options: TurnOptions): Promise<{ result: TurnResult; usedMs: number }> {
    const { now, jobs, first, limited, inspector } = options;
    const { door } = seat;
    this.#seat = seat;
    door.logBuffer.wipe();
    this.#turn = this.#turnOf(seat, limit);
    if (limited) this.#watch(this.#turn);
    // A second attempt, in case the first has no effect.
    const timeout = limited ? BUSY_FACTOR * limit.milliseconds : undefined;
    const work = (): Promise<TurnResult> =>
      first ? start(seat, now, jobs, timeout) : door.activate(now, jobs, timeout);
    const result = await (inspector ? inspector.turn(work) : work());
    return { result, usedMs: this.#end() };
  }

  #watch(turn: Turn): void {
    this.#turn = turn;
    this.#watched = true;
    this.#memory.begin(this);
    this.#processor.begin(turn);
  }

  /** @returns milliseconds of processor time used by the turn */
  #end(): number {
    this.#memory.end(this);
    const usedMs = this.#turn && this.#watched ? this.#processor.end(this.#turn) : 0;
    this.#turn = undefined;
    this.#watched = false;
    return usedMs;
  }

  #turnOf({ room: { isolate } }: Seat, { milliseconds, name }: TimeLimit): Turn {
    const { exceeded, goesOn } = this.#listener;
    const before = isolate.cpuTime;
    const began = performance.now();
    return {
      limitMs: milliseconds,
      // isolated-vm's CPU time includes waiting for the processor. It is unknown for a disposed isolate; the time on
      // the thread is an upper bound.
      onThread: () => (isolate.isDisposed ? performance.now() - began : Number(isolate.cpuTime - before) / 1e6),
      exceeded: () => exceeded(name),
      goesOn,
    };
  }
}

/** A block that ended in its first turn will probably do so again: the next context is then created in advance. */
async function start(
  { program, room, door }: Seat,
  now: number,
  jobs: readonly string[],
  timeout?: number,
): Promise<TurnResult> {
  const result = await (room.endsAtOnce
    ? door.startToEnd(now, jobs, timeout, () => room.prepare())
    : door.start(now, jobs, timeout));
  room.endsAtOnce = program.kind === 'block' && result.kind === 'output' && result.ended;
  return result;
}
