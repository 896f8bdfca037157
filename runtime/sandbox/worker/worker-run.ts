import type { LimitName } from '../limits.ts';
import type { Failure, RunProgress, ToHost } from '../messages.ts';
import type { Said } from './door.ts';
import { InspectorLink } from './inspector-link.ts';
import type { MemoryWatch, Watched } from './memory-watch.ts';
import { type Seat, type Seats, leave } from './seats.ts';
import { type Program, SourceError } from './source.ts';

export interface RunSettings {
  readonly run: number;
  readonly cpuMs: number;
  readonly activationMs: number;
  readonly memoryMb: number;
  readonly messageBytes: number;
  readonly debug: boolean;
}

export interface RunSurroundings {
  readonly seats: Seats;
  readonly watch: MemoryWatch;
  readonly send: (message: ToHost, body?: string) => void;
  /** The run is done, and needs no word of the host any more. */
  readonly over: () => void;
}

/** Milliseconds after its time limit, within which V8 has to have ended an activation. */
const GRACE_MS = 300;
/** Milliseconds that a run waits for its debugger. */
const DEBUGGER_MS = 60_000;
/** Milliseconds for making an isolate and compiling a program. */
const PREPARE_MS = 10_000;

/**
 * ```
 * preparing ─▶ idle ⇄ active
 *     └─────────┴───────┴──▶ over
 * ```
 */
type State = 'preparing' | 'idle' | 'active' | 'over';

/** One run inside the worker: takes activations to its isolate and what the script said to the host. */
export class WorkerRun implements Watched {
  readonly memoryMb: number;
  readonly #settings: RunSettings;
  readonly #around: RunSurroundings;
  #state: State = 'preparing';
  #seat: Seat | undefined;
  #inspector: InspectorLink | undefined;
  #jobs: string[] = [];
  /** An activation is in the isolate, although the run may be over. */
  #inside = false;
  #activations = 0;
  #taken = 0;
  #cpuBefore = 0n;
  #cpuMs = 0;
  #memoryBytes = 0;

  constructor(settings: RunSettings, around: RunSurroundings) {
    this.#settings = settings;
    this.#around = around;
    this.memoryMb = settings.memoryMb;
  }

  get isGone(): boolean {
    return this.#seat?.room.isolate.isDisposed ?? false;
  }

  /** Starts the program; never rejects. */
  async begin(program: Program, startJob: string): Promise<void> {
    const stuck = this.#unlessDone(PREPARE_MS, 'it could not be prepared in time');
    try {
      const { seats } = this.#around;
      const { memoryMb, debug } = this.#settings;
      this.#seat = await (debug ? seats.make(program, memoryMb, true) : seats.take(program, memoryMb));
    } catch (error) {
      this.#fail(prepareFailure(error));
      return;
    } finally {
      clearTimeout(stuck);
    }
    if (this.#isOver()) return leave(this.#seat.room);
    const { isolate } = this.#seat.room;
    this.#seat.room.onCatastrophe = (reason) => this.#catastrophe(reason);
    if (this.#settings.debug) await this.#waitForDebugger();
    if (this.#isOver()) return;
    this.#cpuBefore = isolate.cpuTime;
    await this.#turn((seat, timeout) => seat.door.start(startJob, timeout));
  }

  /** One job of an activation, as JSON. */
  job(text: string): void {
    this.#jobs.push(text);
    if (this.#state === 'idle') void this.#continue();
  }

  /** The host is done with the run. */
  end(reusable: boolean): void {
    const seat = this.#seat;
    const calm = this.#state === 'idle';
    this.#state = 'over';
    this.#inspector?.close();
    if (!seat) return;
    if (reusable && calm && !this.#settings.debug) void this.#around.seats.giveBack(seat);
    else this.#leave(seat);
  }

  /** A message of a debugger. */
  inspect(message: string): void {
    this.#inspector?.dispatch(message);
  }

  uninspect(): void {
    this.#inspector?.detach();
  }

  exceededMemory(): void {
    this.#fail({ kind: 'limit', limit: 'memoryMb' });
  }

  /** Memory ran out where V8 cannot throw, or the isolate does not stop; that thread never comes back. */
  #catastrophe(reason: string): void {
    if (reason.includes('out-of-memory')) this.exceededMemory();
    this.#wounded(reason);
  }

  async #waitForDebugger(): Promise<void> {
    const { isolate } = this.#seat?.room ?? {};
    if (!isolate) return;
    const { send } = this.#around;
    this.#inspector = new InspectorLink(isolate, (body) => send({ type: 'inspected', run: this.#settings.run }, body));
    send({ type: 'debuggable', run: this.#settings.run });
    const late = setTimeout(() => this.#inspector?.detach(), DEBUGGER_MS);
    await this.#inspector.ready;
    clearTimeout(late);
  }

  async #continue(): Promise<void> {
    while (this.#state === 'idle' && this.#jobs.length > 0) {
      const jobs = this.#takeJobs();
      // Jobs go in one after the other, for each may change what the next finds.
      // oxlint-disable-next-line eslint/no-await-in-loop
      await this.#turn((seat, timeout) => seat.door.activate(jobs, timeout));
    }
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

  /** One turn in the isolate, within the limits. */
  async #turn(turn: (seat: Seat, timeout: number | undefined) => Promise<Said>): Promise<void> {
    const seat = this.#seat;
    if (!seat) return;
    const { cpuMs, activationMs, debug, run } = this.#settings;
    const left = Math.ceil(cpuMs - this.#usedCpu());
    const timeout = Math.max(1, Math.min(activationMs, left));
    const stuck = debug
      ? undefined
      : this.#unlessDone(timeout + GRACE_MS, 'it does not stop', timeLimit(left, activationMs));
    this.#state = 'active';
    this.#inside = true;
    this.#activations++;
    if (!debug) this.#around.watch.begin(this);
    const said = await turn(seat, debug ? undefined : timeout);
    this.#around.watch.end(this);
    this.#inside = false;
    clearTimeout(stuck);
    if (this.#isOver()) return;
    this.#state = 'idle';
    const failure = this.#failureOf(said, timeLimit(left, activationMs));
    if (failure) return this.#fail(failure);
    if (said.kind !== 'said') return;
    const { unhandled } = said;
    const over = said.ended && !debug;
    this.#around.send(
      {
        type: 'said',
        run,
        ...this.#progress(),
        ...(unhandled === undefined ? {} : { unhandled }),
        ...(over ? { over } : {}),
      },
      said.text,
    );
    if (over) return this.#finish(seat);
    if (this.#jobs.length > 0) void this.#continue();
  }

  /** The script came to its end: the next one of its program gets the isolate. */
  #finish(seat: Seat): void {
    this.#state = 'over';
    this.#around.over();
    void this.#around.seats.giveBack(seat);
  }

  #failureOf(said: Said, limit: LimitName): Failure | undefined {
    if (said.kind === 'timeout') return { kind: 'limit', limit };
    if (said.kind === 'disposed') return { kind: 'limit', limit: 'memoryMb' };
    if (said.kind === 'threw') return said;
    if (!this.#settings.debug && this.#usedCpu() > this.#settings.cpuMs) return { kind: 'limit', limit: 'cpuMs' };
    return undefined;
  }

  #fail(failure: Failure): void {
    if (this.#isOver()) return;
    const progress = this.#progress();
    this.#state = 'over';
    this.#inspector?.close();
    this.#around.send({ type: 'failed', run: this.#settings.run, failure, ...progress });
    if (this.#seat) this.#leave(this.#seat);
  }

  /** Disposes the isolate; when it is still running after the grace time, the process cannot be relied on. */
  #leave({ room }: Seat): void {
    leave(room);
    if (!this.#inside) return;
    setTimeout(() => {
      if (this.#inside) this.#wounded('an isolate does not stop');
    }, GRACE_MS);
  }

  #wounded(reason: string): void {
    this.#around.send({ type: 'wounded', run: this.#settings.run, reason });
  }

  #unlessDone(milliseconds: number, reason: string, limit?: LimitName): NodeJS.Timeout {
    return setTimeout(() => {
      this.#fail(limit === undefined ? { kind: 'lost', message: reason } : { kind: 'limit', limit });
      if (!this.#seat) this.#wounded(reason);
    }, milliseconds);
  }

  #isOver(): boolean {
    return this.#state === 'over';
  }

  #usedCpu(): number {
    const isolate = this.#seat?.room.isolate;
    if (isolate && !isolate.isDisposed) this.#cpuMs = Number(isolate.cpuTime - this.#cpuBefore) / 1e6;
    return this.#cpuMs;
  }

  #progress(): RunProgress {
    return {
      cpuMs: this.#usedCpu(),
      activations: this.#activations,
      memoryBytes: this.#memoryBytes,
      jobs: this.#taken,
    };
  }
}

/** Which limit a time-out means, with so much CPU time left before. */
function timeLimit(left: number, activationMs: number): LimitName {
  return left < activationMs ? 'cpuMs' : 'activationMs';
}

function prepareFailure(error: unknown): Failure {
  if (error instanceof SourceError) return { kind: 'compile', problems: error.problems };
  return { kind: 'lost', message: error instanceof Error ? error.message : String(error) };
}
