/** A worker: a sandbox process with its runs. */
import { SandboxLostError, type ScriptProblem } from '../errors.ts';
import type { ToHost } from '../messages.ts';
import type { CompileResult } from '../sandbox.ts';
import { Arrival, type Job, jobOf, timeOf } from './arrival.ts';
import { Growth } from './growth.ts';
import type { HostRun } from './host-run.ts';
import type { NumberedProgram } from './programs.ts';
import { type WorkerOptions, WorkerProcess } from './worker-process.ts';

/**
 * ```
 * starting ─▶ ready ─▶ retiring ─▶ gone
 *     └─────────┴──────────────────▶┘
 * ```
 * A retiring worker takes no new runs, because an isolate in it does not stop or its memory has grown. Its present runs
 * continue.
 */
export type WorkerState = 'starting' | 'ready' | 'retiring' | 'gone';

export interface WorkerListener {
  ready(worker: Worker): void;
  /** A program made the worker unreliable, for example because its isolate does not stop. */
  damaged(worker: Worker, culprit: NumberedProgram, reason: string): void;
  /**
   * Runs to place in another worker: this one died, or lost its compiler, before it reported anything about them, so
   * none of their commands was executed. Follows `gone` or `compilerExhausted`.
   */
  requeue(arrivals: readonly Arrival[]): void;
  /** @param suspects programs that may be the cause */
  gone(worker: Worker, suspects: readonly NumberedProgram[], reason: string): void;
  /**
   * A run fell asleep and left the worker.
   * @param text its saved state
   * @param missed jobs sent but not handled
   */
  asleep(id: number, run: HostRun, text: string, missed: readonly Job[]): void;
  /** The worker can compile no more programs; its runs continue. */
  compilerExhausted(worker: Worker): void;
  /** The worker keeps much more memory than it needs. */
  grown(worker: Worker): void;
  /** A run waits for a debugger. */
  debuggable(worker: Worker, run: number): void;
  /** It no longer has, or waits for, a debugger. */
  undebugged(run: number): void;
  inspected(run: number, message: string): void;
}

/** Number of ended runs kept. */
const MEMORY = 100;
const MB = 1_048_576;

interface Held {
  readonly run: HostRun;
  readonly program: NumberedProgram;
  /** Its arrival; undefined once the worker has reported about it. */
  arrival: Arrival | undefined;
  /** Jobs sent but not handled. */
  readonly jobs: Job[];
  /** True when the worker has ended it by itself. */
  over: boolean;
}

/** A sandbox process with the runs it holds. */
export class Worker {
  readonly process: WorkerProcess;
  readonly #listener: WorkerListener;
  readonly #held = new Map<number, Held>();
  /** Numbers of the programs sent to it. */
  readonly #programs = new Set<number>();
  /** Programs of ended runs whose isolate may still be running. */
  readonly #stillRunning = new Map<number, NumberedProgram>();
  readonly #compiles = new Map<number, PromiseWithResolvers<CompileResult | undefined>>();
  #state: WorkerState = 'starting';
  #wasReady = false;
  #growth: Growth | undefined;
  /** Runs started since the last memory check. */
  #arrivals = 0;

  constructor(options: WorkerOptions, listener: WorkerListener) {
    this.#listener = listener;
    this.process = new WorkerProcess(options, {
      ready: () => {
        if (this.#state !== 'starting') return;
        this.#state = 'ready';
        this.#wasReady = true;
        listener.ready(this);
      },
      message: (message, body) => this.#hear(message, body),
      exit: (reason) => this.#exit(reason),
    });
  }

  get state(): WorkerState {
    return this.#state;
  }

  /** True once it was ready. */
  get wasReady(): boolean {
    return this.#wasReady;
  }

  /** Number of its runs. */
  get load(): number {
    return this.#held.size;
  }

  holds(program: NumberedProgram): boolean {
    return this.#programs.has(program.id);
  }

  /** Sends a program that the worker lacks. */
  announce(program: NumberedProgram): void {
    if (this.#programs.has(program.id)) return;
    this.#programs.add(program.id);
    const { id, format, kind, file, line = 1, source, modules } = program;
    this.process.send(
      { type: 'program', program: id, format, kind, file, line, ...(modules === undefined ? {} : { modules }) },
      source,
    );
  }

  forget(program: NumberedProgram): void {
    if (this.#programs.delete(program.id)) this.process.send({ type: 'forget', program: program.id });
  }

  /**
   * Checks a program without keeping it.
   * @returns undefined when another worker has to do it
   * @throws SandboxLostError
   */
  compile(program: NumberedProgram): Promise<CompileResult | undefined> {
    const compiled = Promise.withResolvers<CompileResult | undefined>();
    this.#compiles.set(program.id, compiled);
    this.announce(program);
    this.process.send({ type: 'compile', request: program.id, program: program.id });
    this.forget(program);
    return compiled.promise;
  }

  /** @param crowded true: the run releases its isolate as soon as it waits, because many runs are waiting */
  take(arrival: Arrival, crowded: boolean): void {
    const { id, run, program, jobs } = arrival;
    const { type, text } = arrival.entrance;
    this.announce(program);
    this.#arrivals += 1;
    const held: Held = { run, program, arrival, jobs: [], over: false };
    this.#held.set(id, held);
    const tell = (job: Job): void => {
      const { text: body, ...time } = job;
      held.jobs.push(job);
      this.process.send({ type: 'job', run: id, ...time }, body);
    };
    run.attach({
      job: (body) => tell(jobOf(run, body)),
      halt: (limit) => {
        if (!held.over) this.process.send({ type: 'halt', run: id, limit });
        return !held.over;
      },
      save: () => {
        this.process.send({ type: 'save', run: id });
        return undefined;
      },
      end: (reusable) => this.#end(id, held, reusable),
    });
    const { cpuMs, activationMs, memoryMb, messageBytes } = run.limits;
    const limits = { cpuMs, activationMs, memoryMb, messageBytes };
    const debug = run.options.debug ?? false;
    const { id: number, key: family } = program;
    this.process.send({ type, run: id, program: number, family, ...limits, debug, crowded, ...timeOf(run) }, text);
    for (const job of jobs) tell(job);
  }

  /** Accepts no new runs; ends when its runs have ended or sleep. */
  retire(): void {
    if (this.#state === 'gone') return;
    this.#state = 'retiring';
    this.process.send({ type: 'retire' });
    this.#endWhenDone();
  }

  #end(id: number, held: Held, reusable: boolean): void {
    this.#held.delete(id);
    if (!held.over) this.process.send({ type: 'end', run: id, reusable });
    if (!reusable) {
      this.#stillRunning.set(id, held.program);
      const [oldest] = this.#stillRunning.keys();
      if (this.#stillRunning.size > MEMORY && oldest !== undefined) this.#stillRunning.delete(oldest);
    }
    this.#endWhenDone();
  }

  #endWhenDone(): void {
    if (this.#state === 'retiring' && this.load === 0 && this.#compiles.size === 0) this.process.kill();
  }

  #hear(message: ToHost, body: string): void {
    switch (message.type) {
      case 'ready':
        this.#growth = new Growth(message.rss);
        return;
      case 'pong':
        return this.#look(message.rss);
      case 'compiled':
        return this.#compiled(message.request, compileResult(message.problems, body));
      case 'uncompiled':
        return this.#compiled(message.request, undefined);
      case 'compilerExhausted':
        return this.#listener.compilerExhausted(this);
      case 'refused':
        return this.#refused(message.run);
      case 'debuggable': {
        const held = this.#held.get(message.run);
        if (held) held.arrival = undefined;
        return this.#listener.debuggable(this, message.run);
      }
      case 'undebugged':
        return this.#listener.undebugged(message.run);
      case 'inspected':
        return this.#listener.inspected(message.run, body);
      case 'output': {
        const held = this.#held.get(message.run);
        if (!held) return;
        held.arrival = undefined;
        held.jobs.splice(0, message.jobs - held.run.jobsDone);
        held.over = message.over === true;
        return held.run.takeOutput(body, message, message.unhandled);
      }
      case 'working': {
        const held = this.#held.get(message.run);
        if (held) held.arrival = undefined;
        return held?.run.working(body, message);
      }
      case 'asleep':
        return this.#fellAsleep(message.run, body);
      case 'saved':
        return this.#held.get(message.run)?.run.saved(body, message.exceeded);
      case 'failed':
        return this.#held.get(message.run)?.run.failed(message.failure, message);
      case 'damaged':
        return this.#damaged(message.run, message.reason);
    }
  }

  #fellAsleep(id: number, text: string): void {
    const held = this.#held.get(id);
    if (!held) return;
    this.#held.delete(id);
    this.#listener.asleep(id, held.run, text, held.jobs);
    this.#endWhenDone();
  }

  #compiled(request: number, result: CompileResult | undefined): void {
    this.#compiles.get(request)?.resolve(result);
    this.#compiles.delete(request);
    this.#endWhenDone();
  }

  #refused(id: number): void {
    const { arrival, jobs = [] } = this.#held.get(id) ?? {};
    this.#held.delete(id);
    if (arrival) this.#listener.requeue([arrivalAgain(arrival, jobs, arrival.isAgain)]);
    this.#endWhenDone();
  }

  #look(rss: number): void {
    let allowed = 0;
    for (const { run } of this.#held.values()) allowed += run.limits.memoryMb * MB;
    const grown = this.#growth?.look({ rss, allowed, arrivals: this.#arrivals });
    this.#arrivals = 0;
    if (grown && this.#state === 'ready') this.#listener.grown(this);
  }

  #damaged(id: number, reason: string): void {
    const held = this.#held.get(id);
    const culprit = held?.program ?? this.#stillRunning.get(id);
    held?.run.lost(reason);
    if (culprit) this.#listener.damaged(this, culprit, reason);
  }

  #exit(reason: string): void {
    this.#state = 'gone';
    const held = [...this.#held.values()];
    this.#held.clear();
    const suspects = held.filter(({ arrival, jobs }) => arrival || jobs.length > 0).map(({ program }) => program);
    const unreported = held.flatMap(({ arrival, jobs }) => (arrival && !arrival.isAgain ? { arrival, jobs } : []));
    for (const { run, arrival } of held) if (!arrival || arrival.isAgain) run.lost(reason);
    for (const { reject } of this.#compiles.values()) reject(new SandboxLostError(reason));
    this.#compiles.clear();
    this.#listener.gone(this, suspects, reason);
    this.#listener.requeue(unreported.map(({ arrival, jobs }) => arrivalAgain(arrival, jobs, true)));
  }
}

function arrivalAgain({ id, run, program, entrance }: Arrival, jobs: readonly Job[], isAgain: boolean): Arrival {
  run.restart();
  return new Arrival(id, run, program, entrance, { jobs, isAgain });
}

function compileResult(problems: readonly ScriptProblem[], code: string): CompileResult {
  if (problems.length === 0) return { ok: true, code };
  return { ok: false, problems, ...(code === '' ? {} : { code }) };
}
