/** A run in its worker. */
import type { LimitName } from '../limits.ts';
import type { Entry, Failure, RunProgress, ToHost } from '../messages.ts';
import { REPETITION, type RepetitionLimit } from '../repetition.ts';
import { Activity } from './activity.ts';
import type { TurnResult } from './door.ts';
import { readSavedRun, writeSavedRun } from './saved-run.ts';
import { InspectorLink } from './inspector-link.ts';
import { isSame, Journal } from './journal.ts';
import type { MemoryWatch } from './memory-watch.ts';
import type { ProcessorWatch } from './processor-watch.ts';
import { randomSeed } from './random-seed.ts';
import type { Room } from './room.ts';
import { type Seat, type Seats, leave } from './seats.ts';
import type { LogBuffer } from './log-buffer.ts';
import { type Program, SourceError, CompilerExhaustedError } from './source.ts';
import type { Turnstile } from './turnstile.ts';

export interface RunSurroundings {
  readonly seats: Seats;
  readonly watch: MemoryWatch;
  readonly processor: ProcessorWatch;
  /** The queue of runs waiting to be active. */
  readonly turnstile: Turnstile;
  /** Milliseconds of waiting after which a run releases its isolate; doubled each time. */
  readonly restMs: (crowded: boolean) => number;
  readonly send: (message: ToHost, body?: string) => void;
  /** The run has ended or is asleep, and needs no more messages from the host. */
  readonly over: () => void;
}

/** Milliseconds for V8 to end an activation that exceeded a limit. */
const GRACE_MS = 300;
/** The same with a debugger, which has to be ended first. */
const INSPECTED_GRACE_MS = 3000;
/** Milliseconds that a run waits for its debugger. */
const DEBUGGER_MS = 60_000;
/** Milliseconds for creating an isolate and compiling a program. */
const PREPARE_MS = 10_000;
/** Milliseconds between reports about a turn in progress. */
const REPORT_MS = 100;
/** The job that reports the debugger's disconnection to a script. */
const UNDEBUGGED = '{"do":"undebugged"}';
/** Milliseconds of processor time permitted for repeating a script; one that leaves an ending process may need more, once. */
const REPEATABLE_CPU_MS = 100;

/**
 * ```
 * preparing ─▶ idle ─▶ queued ─▶ active ─▶ idle
 *     └──────────┴─────────┴────────┴─────▶ over
 * ```
 * A run that waits long falls asleep: it is over here, and the host keeps its saved state. Its next job wakes it, in
 * this process or another. It then repeats its turns in a fresh context, with the output ignored.
 */
type State = 'preparing' | 'idle' | 'queued' | 'active' | 'over';

/** One run inside the worker: passes activations to its isolate and the script's output to the host. */
export class WorkerRun {
  readonly #settings: Entry;
  readonly #around: RunSurroundings;
  #state: State = 'preparing';
  #seat: Seat | undefined;
  #inspector: InspectorLink | undefined;
  #jobs: string[] = [];
  #now: number | undefined;
  readonly #journal: Journal | undefined;
  /** Factor of the waiting time before it releases its isolate. */
  readonly #patience: number;
  #resting: NodeJS.Timeout | undefined;
  #leaving = false;
  readonly #activity: Activity;
  /** Log of the turn in progress. */
  #logBuffer: LogBuffer | undefined;
  #reported = 0;
  /** True with a debugger: no time limits until it disconnects. */
  #limited: boolean;
  /** The worker's own jobs for the script's next turn. */
  #news: string[] = [];
  #debuggerLate: NodeJS.Timeout | undefined;
  #taken: number;
  /** Releases the run's place while it is active. */
  #goOn = (): void => undefined;

  /** @param asleep the body of `wake`; undefined: the run starts */
  constructor(settings: Entry, around: RunSurroundings, asleep?: string) {
    const saved = asleep === undefined ? undefined : readSavedRun(asleep);
    this.#settings = settings;
    this.#now = settings.now;
    this.#around = around;
    const listener = { exceeded: (limit: LimitName) => this.#exceeded(limit), goesOn: () => this.#goesOn() };
    this.#activity = new Activity(settings, around, listener, saved);
    this.#taken = saved?.jobs ?? 0;
    this.#patience = saved ? saved.patience * 2 : 1;
    this.#limited = !settings.debug;
    // A debugger is bound to one isolate.
    if (!settings.debug) this.#journal = new Journal(saved?.turns);
  }

  /** Starts the program; never rejects. */
  async begin(program: Program, startJob: string): Promise<void> {
    const seed = randomSeed();
    const jobs = [JSON.stringify({ do: 'seed', seed }), startJob];
    await this.#atTurn(async () => {
      const seat = await this.#sitDown(program);
      if (seat && this.#settings.debug) await this.#waitForDebugger();
      if (seat && !this.#isOver()) await this.#turn(jobs, true);
    });
  }

  /** Wakes it by repeating its turns up to the same state; never rejects. */
  async wake(program: Program): Promise<void> {
    await this.#atTurn(async () => {
      const seat = await this.#sitDown(program);
      if (seat) await this.#repeat(seat);
    });
  }

  /** Runs processor work at the next turn of the run's family. Does nothing after the run's end. */
  async #atTurn(work: () => Promise<void>): Promise<void> {
    const { debug, family } = this.#settings;
    // A debugged run waits for a person and skips the queue.
    if (debug) return work();
    const before = this.#activity.used.cpuMs;
    const leaveTurnstile = await this.#around.turnstile.enter(family, before);
    const goOn = (): void => leaveTurnstile(this.#activity.used.cpuMs - before);
    this.#goOn = goOn;
    if (!this.#isOver()) await work();
    goOn();
  }

  /** An isolate with the program; undefined when it failed or the run has ended meanwhile. */
  async #sitDown(program: Program): Promise<Seat | undefined> {
    const stuck = setTimeout(() => this.#unprepared(), PREPARE_MS);
    try {
      const { seats } = this.#around;
      const { memoryMb, debug } = this.#settings;
      this.#seat = await (debug ? seats.make(program, memoryMb, true) : seats.take(program, memoryMb));
    } catch (error) {
      if (error instanceof CompilerExhaustedError) this.#refuse();
      else this.#fail(prepareFailure(error));
      return undefined;
    } finally {
      clearTimeout(stuck);
    }
    const seat = this.#seat;
    if (this.#isOver()) {
      leave(seat.room);
      return undefined;
    }
    seat.room.onCatastrophe = (reason) => this.#catastrophe(reason);
    return seat;
  }

  /**
   * One job of an activation, as JSON.
   * @param now the script's clock from here on, unless it is the machine's
   */
  job(text: string, now: number | undefined): void {
    this.#now = now;
    this.#jobs.push(text);
    if (this.#state === 'idle') void this.#continue();
  }

  /** The host has finished the run. */
  end(reusable: boolean): void {
    const seat = this.#seat;
    const calm = this.#state === 'idle' || this.#state === 'queued';
    this.#state = 'over';
    clearTimeout(this.#resting);
    clearTimeout(this.#debuggerLate);
    if (!seat) return;
    if (reusable && calm && !this.#settings.debug) void this.#around.seats.giveBack(seat);
    else this.#leave(seat);
  }

  /** The process is to end: the run releases its isolate as soon as it waits. */
  leave(): void {
    this.#leaving = true;
    this.#rest();
  }

  /** Passes on a debugger's message. */
  inspect(message: string): void {
    clearTimeout(this.#debuggerLate);
    this.#inspector?.dispatch(message);
  }

  /** The debugger disconnected, or never connected: the usual limits apply from now on. */
  uninspect(): void {
    if (this.#limited || this.#isOver()) return;
    this.#limited = true;
    this.#activity.limit();
    this.#news = [UNDEBUGGED];
    this.#inspector?.detach();
    this.#around.send({ type: 'undebugged', run: this.#settings.run });
  }

  /** The host reports an exceeded limit. */
  halt(limit: LimitName): void {
    this.#exceeded(limit);
  }

  /** Out of memory where V8 cannot throw, or the isolate cannot be stopped; its thread never returns. */
  #catastrophe(reason: string): void {
    if (reason.includes('out-of-memory')) this.#exceeded('memoryMb');
    this.#damaged(reason);
  }

  async #waitForDebugger(): Promise<void> {
    const seat = this.#seat;
    if (!seat) return;
    const { send } = this.#around;
    const { run } = this.#settings;
    const hold = (): Promise<void> => seat.door.hold();
    this.#inspector = new InspectorLink(seat.room.isolate, seat.program, hold, (body) =>
      send({ type: 'inspected', run }, body),
    );
    send({ type: 'debuggable', run });
    this.#debuggerLate = setTimeout(() => this.uninspect(), DEBUGGER_MS);
    await this.#inspector.ready;
  }

  async #continue(): Promise<void> {
    if (this.#state !== 'idle' || this.#jobs.length === 0) return;
    this.#state = 'queued';
    clearTimeout(this.#resting);
    // Jobs are handled one after another, because each may change the state for the next.
    await this.#atTurn(() => this.#turn(this.#takeJobs(), false));
  }

  #restLater(): void {
    const restMs = this.#leaving ? 0 : this.#around.restMs(this.#settings.crowded) * this.#patience;
    // Immediately, so that the next run reuses the isolate.
    if (restMs === 0) this.#rest();
    else this.#resting = setTimeout(() => this.#rest(), restMs);
  }

  /** Releases the isolate if the script is cheap to repeat, and leaves the worker. */
  #rest(): void {
    const seat = this.#seat;
    const most = this.#leaving ? REPETITION.processorMs : REPEATABLE_CPU_MS;
    const easy = this.#journal?.complete === true && this.#activity.used.cpuMs <= most;
    if (!seat || this.#state !== 'idle' || !easy) return;
    clearTimeout(this.#resting);
    this.#around.send({ type: 'asleep', run: this.#settings.run }, this.#saved(this.#journal));
    this.#finish(seat);
  }

  /** Tells its state to the host while it waits, for another node. */
  save(): void {
    const { run } = this.#settings;
    const exceeded = this.#tooMuch;
    const isReady = this.#state === 'idle' && this.#jobs.length === 0 && exceeded === undefined;
    const saved = isReady && this.#journal !== undefined ? this.#saved(this.#journal) : '';
    this.#around.send({ type: 'saved', run, ...(exceeded !== undefined && { exceeded }) }, saved);
  }

  /** The limit above which another node may not repeat it. */
  get #tooMuch(): RepetitionLimit | undefined {
    const { cpuMs } = this.#activity.used;
    return this.#journal?.exceeded ?? (cpuMs > REPETITION.processorMs ? 'processorMs' : undefined);
  }

  #saved({ turns }: Journal): string {
    return writeSavedRun({ turns, patience: this.#patience, ...this.#progress() });
  }

  async #repeat(seat: Seat): Promise<void> {
    for (const [index, turn] of (this.#journal?.turns ?? []).entries()) {
      // oxlint-disable-next-line eslint/no-await-in-loop -- one after the other, as it was
      const result = await this.#activity.again(seat, { now: turn.now, jobs: turn.jobs, first: index === 0 });
      if (this.#isOver()) return;
      if (result.kind !== 'output' || !isSame(turn, result.text))
        return this.#fail({ kind: 'lost', message: 'after its sleep the script did not repeat its earlier commands' });
    }
    this.#state = 'idle';
    if (this.#jobs.length > 0) await this.#turn(this.#takeJobs(), false);
  }

  /** As many waiting jobs as fit into one message. */
  #takeJobs(): string[] {
    let length = 0;
    let count = 0;
    for (const job of this.#jobs) {
      length += job.length;
      if (count > 0 && length > this.#settings.messageBytes) break;
      count++;
    }
    this.#taken += count;
    return this.#jobs.splice(0, count);
  }

  /** Runs one turn of the script and sends its result to the host. */
  async #turn(jobs: readonly string[], first: boolean): Promise<void> {
    const seat = this.#seat;
    if (!seat) return;
    clearTimeout(this.#resting);
    const { debug, run } = this.#settings;
    const now = this.#now ?? Date.now();
    this.#state = 'active';
    this.#logBuffer = seat.door.logBuffer;
    const result = await this.#activity.turn(seat, {
      now,
      jobs: [...this.#news.splice(0), ...jobs],
      first,
      limited: this.#limited,
      inspector: this.#inspector,
    });
    if (this.#isOver()) return;
    this.#state = 'idle';
    const failure = this.#failureOf(result);
    if (failure) return this.#fail(failure);
    if (result.kind !== 'output') return;
    // Output before the exceeded limit is not included.
    if (result.exceeded) this.#report();
    this.#logBuffer = undefined;
    const { unhandled } = result;
    const over = result.ended && !debug;
    this.#around.send(
      {
        type: 'output',
        run,
        ...this.#progress(),
        ...(unhandled === undefined ? {} : { unhandled }),
        ...(over ? { over } : {}),
      },
      result.text,
    );
    if (over) return this.#finish(seat);
    this.#journal?.record(now, jobs, result.text);
    if (this.#jobs.length > 0) void this.#continue();
    else if (this.#journal?.complete) this.#restLater();
  }

  /** Reports a long turn, so that its log survives this process. */
  #goesOn(): void {
    // Repeated turns were reported before.
    if (this.#logBuffer === undefined) return;
    this.#report(performance.now() - this.#reported >= REPORT_MS);
  }

  /** @param bare true: even without new log entries */
  #report(bare = false): void {
    const text = this.#logBuffer?.read() ?? '';
    if (text === '' && !bare) return;
    this.#reported = performance.now();
    this.#around.send({ type: 'working', run: this.#settings.run, ...this.#activity.used }, text);
  }

  /** The run has ended here: the next run of its program gets the isolate. */
  #finish(seat: Seat): void {
    this.#state = 'over';
    this.#around.over();
    void this.#around.seats.giveBack(seat);
  }

  #failureOf(result: TurnResult): Failure | undefined {
    if (result.kind === 'timeout') return { kind: 'limit', limit: 'activationMs' };
    if (result.kind === 'disposed') return { kind: 'limit', limit: 'memoryMb' };
    if (result.kind === 'threw') return result;
    const limit = this.#limited ? this.#activity.exceeded : undefined;
    return limit === undefined ? undefined : { kind: 'limit', limit };
  }

  /** The run did nothing here: its host moves it to another process. */
  #refuse(): void {
    if (this.#isOver()) return;
    this.#state = 'over';
    this.#around.over();
    this.#around.send({ type: 'refused', run: this.#settings.run });
  }

  #exceeded(limit: LimitName): void {
    this.#fail({ kind: 'limit', limit });
  }

  #fail(failure: Failure): void {
    if (this.#isOver()) return;
    this.#report();
    const usedUp = failure.kind === 'limit' && failure.limit === 'memoryMb';
    const progress = { ...this.#progress(), ...(usedUp ? this.#activity.usedUp : {}) };
    this.#state = 'over';
    clearTimeout(this.#resting);
    clearTimeout(this.#debuggerLate);
    this.#around.send({ type: 'failed', run: this.#settings.run, failure, ...progress });
    if (this.#seat) this.#leave(this.#seat);
  }

  /** Disposes the isolate; if it still runs after the grace time, the process is unreliable. */
  #leave({ room }: Seat): void {
    if (this.#inspector) {
      void this.#leaveInspected(room, this.#inspector);
      return;
    }
    leave(room);
    if (!this.#activity.isInside) return;
    setTimeout(() => {
      if (this.#activity.isInside) this.#damaged('an isolate does not stop');
    }, GRACE_MS);
  }

  async #leaveInspected(room: Room, inspector: InspectorLink): Promise<void> {
    const late = setTimeout(() => this.#damaged('an isolate does not stop, with a debugger'), INSPECTED_GRACE_MS);
    await inspector.close();
    leave(room);
    clearTimeout(late);
  }

  #damaged(reason: string): void {
    // Its thread may never return.
    this.#goOn();
    this.#around.send({ type: 'damaged', run: this.#settings.run, reason });
  }

  #unprepared(): void {
    const message = `the script was not prepared within ${PREPARE_MS} ms`;
    this.#fail({ kind: 'lost', message });
    if (!this.#seat) this.#damaged(message);
  }

  #isOver(): boolean {
    return this.#state === 'over';
  }

  #progress(): RunProgress {
    return { ...this.#activity.used, jobs: this.#taken };
  }
}

function prepareFailure(error: unknown): Failure {
  if (error instanceof SourceError) return { kind: 'compile', problems: error.problems };
  return { kind: 'lost', message: error instanceof Error ? error.message : String(error) };
}
