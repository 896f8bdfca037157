/** Distributes runs over sandbox processes. */
import { Nursery } from '../../processes/index.ts';
import { DebuggerNotAllowedError, SandboxLostError, ScriptError } from '../errors.ts';
import { NotPlainError } from '../json.ts';
import type {
  CompileResult,
  OwnerUsage,
  Sandbox,
  SandboxFigures,
  ScriptRun,
  ScriptSource,
  StartOptions,
} from '../sandbox.ts';
import { Arrival, type Entrance, type Job, jobOf } from './arrival.ts';
import { DebugServer } from './debug-server.ts';
import { HostRun } from './host-run.ts';
import { Owners } from './owners.ts';
import { type NumberedProgram, Programs } from './programs.ts';
import { Quarantine } from './quarantine.ts';
import { Retired } from './retired.ts';
import { Sleeper } from './sleeper.ts';
import { Slot } from './slot.ts';
import type { WorkerLimits } from './worker-process.ts';
import type { Worker, WorkerListener } from './worker.ts';

export interface PoolOptions extends WorkerLimits {
  /** Number of processes for trusted programs. */
  readonly workers: number;
  /** Milliseconds that other runs of a damaged process may continue. */
  readonly drainMs: number;
  /** True: the processes leave the first processor to calls (Linux). */
  readonly spareOne: boolean;
  /** Loopback port for debuggers (0: any); undefined: debugging is disabled. */
  readonly debuggerPort: number | undefined;
  /** Nursery for the processes; undefined: a new one. */
  readonly nursery: Nursery | undefined;
  /** Reports problems to operators. */
  readonly onDiagnostic: (message: string, details: object) => void;
}

/** Number of sources kept by the workers. */
const PROGRAMS = 500;
/** Consecutive processes that may end before they are ready; then opening the sandbox fails. */
const FAILED_STARTS = 3;
/** Number of runs by which a worker that has the program may exceed the least loaded one. */
const STICKINESS = 8;
/** Number of runs per worker, including sleeping ones, above which runs release their isolates as soon as they wait. */
const CROWD = 64;

/** Distributes runs over sandbox processes, and separates programs that damaged one. */
export class Pool implements Sandbox, SandboxFigures {
  readonly #options: PoolOptions;
  readonly #nursery: Nursery;
  readonly #programs: Programs;
  readonly #quarantine = new Quarantine();
  readonly #slots: readonly Slot[];
  /** For programs in quarantine; started on demand. */
  readonly #isolation: Slot;
  /** For runs with a debugger, for which V8 guarantees less. */
  readonly #debugging: Slot;
  readonly #retired: Retired;
  readonly #runs = new Map<number, HostRun>();
  readonly #owners = new Owners();
  readonly #debug: DebugServer | undefined;
  /** Runs with a debugger by id, with the secret in their address. */
  readonly #debugged = new Map<number, string>();
  /** All processes are ready. */
  readonly #opened = Promise.withResolvers<void>();
  /** The first one is. */
  readonly #usable = Promise.withResolvers<void>();
  #waiting: Arrival[] = [];
  #lastId = 0;
  #closed = false;
  #failedStarts = 0;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#debug = options.debuggerPort === undefined ? undefined : new DebugServer(options.debuggerPort);
    this.#retired = new Retired(options.drainMs);
    this.#programs = new Programs(PROGRAMS, (program) => {
      for (const worker of this.#workers()) worker.forget(program);
    });
    const listener = this.#listener();
    this.#nursery = options.nursery ?? new Nursery(options.nice);
    const born = { ...options, nursery: this.#nursery };
    this.#slots = Array.from({ length: options.workers }, () => new Slot(born, listener, 'birth'));
    this.#isolation = new Slot(born, listener, 'death');
    this.#debugging = new Slot(born, listener, 'death');
  }

  /** Opens the port for debuggers. */
  async listen(): Promise<void> {
    await this.#debug?.listening;
  }

  async startAll(): Promise<void> {
    for (const slot of this.#needed()) slot.start();
    await this.#opened.promise;
  }

  pool(): ReturnType<SandboxFigures['pool']> {
    const workers = [...this.#workers()];
    const busy = workers.filter(({ load }) => load > 0).length;
    return { open: workers.length, busy, waiting: this.#waiting.length, limit: this.#options.workers };
  }

  usage(): ReadonlyMap<string, OwnerUsage> {
    return this.#owners.usage(this.#runs.values());
  }

  /** Process ids of the workers. */
  get pids(): number[] {
    return [...this.#workers()].flatMap(({ process: { pid } }) => pid ?? []);
  }

  async compile(source: ScriptSource): Promise<CompileResult> {
    try {
      return await this.#compile(source);
    } catch (error) {
      // The process died during the compilation, usually because of another script.
      if (error instanceof SandboxLostError) return await this.#compile(source);
      throw error;
    }
  }

  async #compile(source: ScriptSource): Promise<CompileResult> {
    this.#refuseWhenClosed();
    this.#startOne();
    await this.#usable.promise;
    const worker = this.#idlest(this.#slots) ?? this.#slots.find((slot) => slot.worker)?.worker;
    if (!worker) throw new SandboxLostError('no sandbox process is up');
    const result = await worker.compile({ ...source, id: -++this.#lastId, key: '' });
    return result ?? (await this.#compile(source));
  }

  start(options: StartOptions): ScriptRun {
    this.#refuseWhenClosed();
    const id = ++this.#lastId;
    if (options.debug) this.#refuseDebugger();
    const run = new HostRun(options, () => this.#over(id));
    if (run.isOver) return run;
    try {
      run.prepare();
    } catch (error) {
      if (!(error instanceof NotPlainError)) throw error;
      run.refuse(new ScriptError('not_plain', `arguments and variables: ${error.message}`, ''));
      return run;
    }
    this.#runs.set(id, run);
    const { resume } = options;
    if (resume === undefined) this.#enter(id, run, { type: 'start', text: run.startJob });
    else {
      this.#asleep(id, run, resume.given, []);
      run.goOn(resume);
    }
    return run;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const run of this.#runs.values()) run.lost('the sandbox is closed');
    this.#debug?.close();
    const exits = [...this.#workers()].map((worker) => worker.process.exited);
    for (const slot of this.#places()) slot.close();
    this.#retired.close();
    await Promise.all(exits);
    if (this.#nursery !== this.#options.nursery) this.#nursery.close();
  }

  #refuseWhenClosed(): void {
    if (this.#closed) throw new SandboxLostError('the sandbox is closed');
  }

  /** The slots that start immediately. */
  #needed(): readonly Slot[] {
    return this.#debug ? [...this.#slots, this.#debugging] : this.#slots;
  }

  #places(): readonly Slot[] {
    return [...this.#slots, this.#isolation, this.#debugging];
  }

  *#workers(): Generator<Worker> {
    for (const { workers } of this.#places()) yield* workers;
    yield* this.#retired;
  }

  /** @throws DebuggerNotAllowedError */
  #refuseDebugger(): void {
    if (!this.#debug) throw new DebuggerNotAllowedError('debugging is disabled on this node');
  }

  #letDebuggerIn(worker: Worker, id: number): void {
    const { options } = this.#runs.get(id) ?? {};
    const offer = this.#debug?.offer({
      title: options?.title ?? options?.file ?? '',
      url: options?.file ?? '',
      inspect: (message) => worker.process.send({ type: 'inspect', run: id }, message),
      detached: () => worker.process.send({ type: 'uninspect', run: id }),
    });
    if (!offer) return;
    this.#debugged.set(id, offer.secret);
    this.#runs.get(id)?.debuggable(offer.url);
  }

  #letDebuggerOut(id: number): void {
    const secret = this.#debugged.get(id);
    if (secret !== undefined) this.#debug?.withdraw(secret);
    this.#debugged.delete(id);
  }

  #over(id: number): void {
    const run = this.#runs.get(id);
    if (run) this.#owners.ended(run);
    this.#runs.delete(id);
    this.#letDebuggerOut(id);
    this.#waiting = this.#waiting.filter((waiting) => waiting.id !== id);
  }

  /** Assigns a run to a process, as soon as one is ready. */
  #enter(id: number, run: HostRun, entrance: Entrance, jobs: readonly Job[] = []): void {
    const program = this.#programs.find(run.options.version, run.options);
    this.#admit(new Arrival(id, run, program, entrance, { jobs }));
  }

  #admit(arrival: Arrival): void {
    if (this.#place(arrival)) return;
    this.#startOne();
    arrival.run.attach(arrival);
    this.#waiting.push(arrival);
  }

  /** Starts the first process unless one was started; `startAll` reports a failure. */
  #startOne(): void {
    this.#slots[0]?.start();
    for (const { promise } of [this.#usable, this.#opened]) promise.catch(() => undefined);
  }

  /** Assigns a run to a worker, if one is ready. */
  #place(arrival: Arrival): boolean {
    const { program, run } = arrival;
    const worker = this.#choose(program, run.options.debug ?? false);
    worker?.take(arrival, this.#runs.size > CROWD * this.#options.workers);
    return worker !== undefined;
  }

  /** @param missed jobs sent but not handled */
  #asleep(id: number, run: HostRun, text: string, missed: readonly Job[]): void {
    const wake = (left: string, jobs: readonly Job[]): void =>
      this.#enter(id, run, { type: 'wake', text: `${left}\n${run.startJob}` }, jobs);
    if (missed.length > 0) wake(text, missed);
    else run.attach(new Sleeper(text, (left, job) => wake(left, [jobOf(run, job)])));
  }

  #choose(program: NumberedProgram, debug: boolean): Worker | undefined {
    if (debug) return this.#only(this.#debugging);
    if (this.#quarantine.has(program.key, performance.now())) return this.#only(this.#isolation);
    const idlest = this.#idlest(this.#slots);
    if (!idlest || idlest.holds(program)) return idlest;
    // An isolate of this program justifies a longer queue.
    const knowing = this.#idlest(this.#slots.filter(({ worker }) => worker?.holds(program)));
    return knowing && knowing.load <= idlest.load + STICKINESS ? knowing : idlest;
  }

  /** The worker of a slot started on demand. */
  #only(slot: Slot): Worker | undefined {
    slot.start();
    return this.#idlest([slot]);
  }

  #idlest(slots: readonly Slot[]): Worker | undefined {
    let idlest: Worker | undefined;
    for (const { worker } of slots) {
      if (worker?.state === 'ready' && (!idlest || worker.load < idlest.load)) idlest = worker;
    }
    return idlest;
  }

  #placeWaiting(): void {
    this.#waiting = this.#waiting.filter((waiting) => !this.#place(waiting));
  }

  #listener(): WorkerListener {
    return {
      ready: (worker) => {
        this.#succeed(worker);
        if (this.#slots.some((slot) => slot.worker?.state === 'ready')) this.#usable.resolve();
        if (this.#needed().every((slot) => slot.worker?.state === 'ready')) this.#opened.resolve();
        this.#placeWaiting();
      },
      damaged: (worker, culprit, reason) => {
        if (worker.state !== 'ready' && !this.#retired.isReplaced(worker)) return;
        this.#options.onDiagnostic('a script harmed its sandbox process, which retires', {
          file: culprit.file,
          reason,
        });
        this.#quarantine.add(culprit.key, performance.now());
        this.#vacate(worker);
        this.#retired.addDamaged(worker);
      },
      asleep: (id, run, text, missed) => this.#asleep(id, run, text, missed),
      compilerExhausted: (worker) => {
        if (worker.state === 'retiring') return;
        this.#options.onDiagnostic('a source was nested too deeply for its sandbox process, which is replaced', {});
        this.#vacate(worker);
        this.#retired.addReplaced(worker);
      },
      grown: (worker) => {
        // Even when runs in grown processes take long, there are only a few such processes.
        if (this.#retired.size >= this.#options.workers) return;
        for (const slot of this.#places()) if (slot.worker === worker) slot.renew();
      },
      gone: (worker, suspects, reason) => {
        const planned = this.#retired.isReplaced(worker) && suspects.length === 0;
        this.#retired.delete(worker);
        if (this.#closed || planned) return;
        if (worker.wasReady) this.#failedStarts = 0;
        else if (++this.#failedStarts > FAILED_STARTS)
          this.#fail(new SandboxLostError(`${reason}\n${worker.process.errorOutput}`));
        for (const { key } of suspects) this.#quarantine.add(key, performance.now());
        this.#vacate(worker);
        this.#options.onDiagnostic('a sandbox process is gone', {
          reason,
          suspects: suspects.map(({ file }) => file),
          lastWords: worker.process.errorOutput,
        });
      },
      requeue: (arrivals) => {
        for (const arrival of arrivals) {
          if (this.#closed) arrival.run.lost('the sandbox is closed');
          else this.#admit(arrival);
        }
      },
      debuggable: (worker, run) => this.#letDebuggerIn(worker, run),
      undebugged: (run) => {
        this.#letDebuggerOut(run);
        this.#runs.get(run)?.undebugged();
      },
      inspected: (run, message) => {
        const secret = this.#debugged.get(run);
        if (secret !== undefined) this.#debug?.tell(secret, message);
      },
    };
  }

  #fail(error: SandboxLostError): void {
    this.#usable.reject(error);
    this.#opened.reject(error);
  }

  /** A worker is ready: it may replace a grown one. */
  #succeed(worker: Worker): void {
    for (const slot of this.#places()) {
      const old = slot.succeed(worker);
      if (old) this.#retired.addReplaced(old);
    }
  }

  #vacate(worker: Worker): void {
    for (const slot of this.#places()) slot.vacate(worker);
  }
}
