import type { LimitName } from '../limits.ts';
import type { Entry, RunUsage } from '../messages.ts';
import type { Said } from './door.ts';
import type { InspectorLink } from './inspector-link.ts';
import type { MemoryWatch, Watched } from './memory-watch.ts';
import { STARVED, type ProcessorWatch, type Turn } from './processor-watch.ts';
import { ScriptTime, type TimeLimit } from './script-time.ts';
import type { Seat } from './seats.ts';

/** What becomes of a turn while it is in progress. */
export interface ActivityListener {
  /** It uses more than it may. */
  readonly exceeded: (limit: LimitName) => void;
  /** It is still in progress: called now and then. */
  readonly goesOn: () => void;
}

export interface TurnOptions {
  /** The script's clock, milliseconds since the epoch. */
  readonly now: number;
  readonly jobs: readonly string[];
  /** It begins the script. */
  readonly first: boolean;
  /** It has limits of time. */
  readonly limited: boolean;
  readonly inspector: InspectorLink | undefined;
}

const MB = 1_048_576;

/** What one run does in its isolate, one turn after the other: let in, measured, and held to its limits from outside. */
export class Activity implements Watched {
  readonly memoryMb: number;
  readonly #memory: MemoryWatch;
  readonly #processor: ProcessorWatch;
  readonly #listener: ActivityListener;
  readonly #time: ScriptTime;
  /** The turn in progress, and whether it is watched. */
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

  /** A turn is in the isolate, although the run may be over. */
  get isInside(): boolean {
    return this.#turn !== undefined;
  }

  get isGone(): boolean {
    return this.#seat?.room.isolate.isDisposed ?? false;
  }

  exceededMemory(): void {
    this.#listener.exceeded('memoryMb');
  }

  /** What was used, the turn in progress included as far as it can be told from outside. */
  get used(): RunUsage {
    const turn = this.#watched ? this.#turn : undefined;
    return {
      cpuMs: this.#time.used + (turn ? this.#processor.used(turn) : 0),
      activations: this.#activations,
      memoryBytes: this.#memoryBytes + (turn ? this.#memory.grownBy(this) : 0),
    };
  }

  /** The same of a run that V8 or the watch ended for its memory: that it held what it may is known. */
  get usedUp(): RunUsage {
    const { memoryBytes, ...used } = this.used;
    return { ...used, memoryBytes: Math.max(memoryBytes, this.memoryMb * MB) };
  }

  /** The limit of time that the turns so far exceed. */
  get exceeded(): LimitName | undefined {
    return this.#time.exceeded;
  }

  /** Does a turn once more that counted when it was new. */
  async again(seat: Seat, options: Pick<TurnOptions, 'now' | 'jobs' | 'first'>): Promise<Said> {
    // It was within its limits then, and is measured anew.
    const { said } = await this.#enter(seat, this.#time.limitAgain, {
      ...options,
      limited: true,
      inspector: undefined,
    });
    return said;
  }

  async turn(seat: Seat, options: TurnOptions): Promise<Said> {
    this.#activations++;
    const { said, usedMs } = await this.#enter(seat, this.#time.limit, options);
    this.#time.count(usedMs);
    if (said.kind === 'said') this.#memoryBytes = said.bytes;
    return said;
  }

  /** The turn in progress, which had no limits of time, has them from here on. */
  limit(): void {
    if (this.#turn && this.#seat && !this.#watched) this.#watch(this.#turnOf(this.#seat, this.#time.limit));
  }

  async #enter(seat: Seat, limit: TimeLimit, options: TurnOptions): Promise<{ said: Said; usedMs: number }> {
    const { now, jobs, first, limited, inspector } = options;
    const { door } = seat;
    this.#seat = seat;
    door.slate.wipe();
    this.#turn = this.#turnOf(seat, limit);
    if (limited) this.#watch(this.#turn);
    // A second look, should the first one not come about.
    const timeout = limited ? STARVED * limit.milliseconds : undefined;
    const work = (): Promise<Said> => (first ? start(seat, now, jobs, timeout) : door.activate(now, jobs, timeout));
    const said = await (inspector ? inspector.turn(work) : work());
    return { said, usedMs: this.#end() };
  }

  #watch(turn: Turn): void {
    this.#turn = turn;
    this.#watched = true;
    this.#memory.begin(this);
    this.#processor.begin(turn);
  }

  /** @returns milliseconds of processor time that the turn used */
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
      // What isolated-vm calls the processor's time goes on while the thread waits for the processor. Of an isolate that is gone
      // nobody knows it: it was on its thread no longer than this.
      onThread: () => (isolate.isDisposed ? performance.now() - began : Number(isolate.cpuTime - before) / 1e6),
      exceeded: () => exceeded(name),
      goesOn,
    };
  }
}

/** A block that ended in its first turn the last time will do so again: then the next fresh context is made at once. */
async function start(
  { program, room, door }: Seat,
  now: number,
  jobs: readonly string[],
  timeout?: number,
): Promise<Said> {
  const said = await (room.endsAtOnce
    ? door.startToEnd(now, jobs, timeout, () => room.prepare())
    : door.start(now, jobs, timeout));
  room.endsAtOnce = program.kind === 'block' && said.kind === 'said' && said.ended;
  return said;
}
