/** The host's side of a run. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AuthorCode,
  LimitError,
  type SandboxError,
  SandboxLostError,
  ScriptAbortedError,
  ScriptError,
} from '../errors.ts';
import { type Json, NotPlainError, stringifyPlain } from '../json.ts';
import { DEFAULT_LIMITS, type LimitName, type ScriptLimits, type ScriptUsage } from '../limits.ts';
import type { Failure, RunProgress, RunUsage } from '../messages.ts';
import type { RepetitionLimit } from '../repetition.ts';
import { type ScriptRecord, scriptRecord } from '../script-record.ts';
import type { LogLevel, ScriptEvent, ScriptOutcome, ScriptRun, StartOptions } from '../sandbox.ts';
import { ownLines } from '../stack.ts';
import { Budget } from './budget.ts';
import { offeredCommands } from './commands.ts';
import { Pace } from './pace.ts';
import { describe, errorOf } from './failures.ts';
import { Saving } from './saving.ts';
import { type LogLine, type OutputItem, parseOutput, InvalidOutputError } from './output.ts';

/** What a run needs from its worker process. */
export interface RunLink {
  job(text: string): void;
  /** The state of the waiting run; undefined: the process tells it by `saved`. */
  save(): string | undefined;
  /** @returns true when the run is active there: the process will report its usage and its failure by this limit */
  halt(limit: LimitName): boolean;
  /** The run has ended. */
  end(reusable: boolean): void;
}

/** Milliseconds to wait for the process to report the usage and log of a stopped run. */
const FINAL_REPORT_MS = 250;

/** A command in progress. */
interface Command {
  readonly name: string;
  readonly args: readonly Json[];
  readonly control: AbortController;
}

/** The host's side of a run: executes the script's commands and enforces its limits. */
export class HostRun implements ScriptRun {
  readonly options: StartOptions;
  readonly limits: ScriptLimits;
  readonly finished: Promise<ScriptOutcome>;
  listensForKeys = false;
  readonly #outcome = Promise.withResolvers<ScriptOutcome>();
  readonly #budget: Budget;
  readonly #pace: Pace;
  readonly #commands = new Map<number, Command>();
  readonly #began: number;
  readonly #onOver: () => void;
  readonly #abort = (): void => this.#end(false, new ScriptAbortedError('the script was stopped'));
  readonly #debuggerUrl: PromiseWithResolvers<string> | undefined;
  /** The first activation without the parts shared by all runs of the program. */
  #begin = '';
  #link: RunLink | undefined;
  #progress: RunProgress = { cpuMs: 0, activations: 0, memoryBytes: 0, jobs: 0 };
  /** Jobs sent to the script, with callers waiting until they are handled. */
  #sent = 0;
  readonly #waiting: { readonly sent: number; readonly resolve: () => void }[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** Log of the current turn so far, in case the turn never ends. */
  #written: LogLine[] = [];
  /** The exceeded limit, while the final usage is awaited. */
  #halting: LimitName | undefined;
  #ended: number | undefined;
  /** Its state is awaited. */
  #saving: Saving | undefined;

  /** @param onOver called once, when the run has ended */
  constructor(options: StartOptions, onOver: () => void) {
    this.options = options;
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.finished = this.#outcome.promise;
    if (options.debug) this.#debuggerUrl = Promise.withResolvers();
    // Avoids an unhandled rejection when nobody uses the debugger URL.
    this.#debuggerUrl?.promise.catch(() => undefined);
    this.#onOver = onOver;
    const { resume } = options;
    this.#began = performance.now() - (resume?.used.wallMs ?? 0);
    this.#budget = new Budget(this.limits, resume?.used);
    if (resume !== undefined) {
      this.#progress = resume.progress;
      this.#sent = resume.progress.jobs;
      this.listensForKeys = resume.listensForKeys;
    }
    this.#pace = new Pace(this.limits.commandsPerSecond);
    if (options.signal?.aborted) this.#abort();
    else options.signal?.addEventListener('abort', this.#abort, { once: true });
    if (!options.debug && options.clock === undefined) this.#limitTime();
    if (!this.isOver && resume === undefined) this.#works();
  }

  #limitTime(): void {
    const { wallMs } = this.limits;
    if (wallMs === undefined || this.isOver || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#halt('wallMs'), wallMs);
  }

  /** Ends the run once its process has reported its usage and log. */
  #halt(limit: LimitName): void {
    if (this.#link?.halt(limit) !== true) return this.#exceed(limit);
    this.#halting = limit;
    this.#abortCommands();
    this.#timer = setTimeout(() => this.#exceed(limit), FINAL_REPORT_MS);
  }

  get isOver(): boolean {
    return this.#ended !== undefined;
  }

  /** Number of jobs handled after the start. */
  get jobsDone(): number {
    return this.#progress.jobs;
  }

  get debuggerUrl(): Promise<string> | undefined {
    return this.#debuggerUrl?.promise;
  }

  usage(): ScriptUsage {
    const { cpuMs, activations, memoryBytes } = this.#progress;
    const wallMs = (this.#ended ?? performance.now()) - this.#began;
    return { cpuMs, wallMs, activations, memoryBytes, ...this.#budget.usage() };
  }

  emit(event: ScriptEvent): void {
    this.#job(`{"do":"event","event":${stringifyPlain(event, this.limits.messageBytes)}}`);
  }

  interrupt({ code, message }: { readonly code: string; readonly message: string }): void {
    this.#job(JSON.stringify({ do: 'interrupt', code, message }));
  }

  /**
   * Stores the script's initial values.
   * @throws NotPlainError
   */
  prepare(): void {
    const { kind, args, vars, secrets, debug } = this.options;
    const { messageBytes, pendingCommands, logLines, logBytes } = this.limits;
    const own = {
      do: 'start',
      kind,
      args: args ?? null,
      vars: vars ?? {},
      secrets: secrets ?? {},
      limits: { messageBytes, pendingCommands, logLines, logBytes },
      ...(debug ? { debug } : {}),
    };
    this.#begin = stringifyPlain(own, messageBytes).slice(0, -1);
  }

  /** The first activation. */
  get startJob(): string {
    return `${this.#begin},"commands":${offeredCommands(this.options.commands).text}}`;
  }

  /** A process has accepted the run. */
  attach(link: RunLink): void {
    this.#link = link;
    if (this.#halting !== undefined) this.#exceed(this.#halting);
    if (this.#saving !== undefined) this.#ask(link);
  }

  async save(): Promise<ScriptRecord | RepetitionLimit | undefined> {
    if (!this.#link || this.#saving !== undefined || this.#sent !== this.jobsDone) return undefined;
    this.#saving = new Saving();
    this.#ask(this.#link);
    const saved = await this.#saving.answer;
    this.#saving = undefined;
    if (this.isOver) return undefined;
    return typeof saved === 'object' ? this.#record(saved.given) : saved;
  }

  #ask(link: RunLink): void {
    const given = link.save();
    if (given !== undefined) this.saved(given);
  }

  /** The answer of the process to `save`. */
  saved(given: string, exceeded?: RepetitionLimit): void {
    this.#saving?.saved(given, exceeded);
  }

  #record(given: string): ScriptRecord {
    const { wallMs, commands, logLines, logBytes } = this.usage();
    const { cpuMs, activations, memoryBytes, jobs } = this.#progress;
    return scriptRecord({
      given,
      progress: { cpuMs, activations, memoryBytes, jobs },
      used: { wallMs, commands, logLines, logBytes },
      listensForKeys: this.listensForKeys,
      pending: [...this.#commands].map(([id, { name, args }]) => ({ id, name, args })),
    });
  }

  /** Begins the commands again that were pending at another node. */
  goOn({ pending }: ScriptRecord): void {
    for (const { id, name, args } of pending) {
      this.#budget.again(id, name);
      this.#begins(id, name, args);
    }
  }

  /** Resets the log, because the run starts or wakes again after the death of its process. */
  restart(): void {
    this.#written = [];
  }

  /** The run waits for a debugger at this address. */
  debuggable(url: Promise<string>): void {
    this.#debuggerUrl?.resolve(url);
  }

  /** The debugger disconnected, or never connected. */
  undebugged(): void {
    this.#limitTime();
    this.options.onUndebugged?.();
  }

  /** A turn continues. @param body log written since the last report */
  working(body: string, usage: RunUsage): void {
    this.#progress = { ...this.#progress, ...usage };
    for (const item of parseOutput(body)) {
      if (item.kind !== 'log') throw new InvalidOutputError('the output of a running turn has more than log entries');
      this.#written.push(item);
    }
  }

  takeOutput(body: string, progress: RunProgress, unhandled: string | undefined): void {
    this.#progress = progress;
    // The time of its own clock does not pass while it waits for the machine, only while it waits for something to happen.
    if (this.options.clock !== undefined && !this.options.debug) this.#limitTime();
    this.#pace.crossed(performance.now(), body.length);
    let items: readonly OutputItem[];
    try {
      items = parseOutput(body);
    } catch (error) {
      if (error instanceof NotPlainError) return this.#end(true, new ScriptError('not_plain', error.message, ''));
      throw error;
    }
    // A message with a limit contains nothing else of the turn.
    if (items[0]?.kind !== 'limit') this.#written = [];
    if (unhandled !== undefined) this.#log('warn', `a rejected promise was not handled: ${unhandled}`);
    this.#budget.beginTurn();
    for (const item of items) {
      if (this.isOver) return;
      if (this.#halting === undefined || item.kind === 'log') this.#hear(item);
    }
    if (this.#halting !== undefined) return this.#exceed(this.#halting);
    while (this.#waiting[0] && this.#waiting[0].sent <= progress.jobs) this.#waiting.shift()?.resolve();
  }

  failed(failure: Failure, progress: RunProgress): void {
    this.#progress = progress;
    if (failure.kind === 'limit') return this.#exceed(failure.limit);
    this.#end(false, errorOf(failure));
  }

  lost(reason: string): void {
    this.#end(false, new SandboxLostError(reason));
  }

  /** The run cannot start. */
  refuse(error: SandboxError): void {
    this.#end(false, error);
  }

  #hear(item: OutputItem): void {
    switch (item.kind) {
      case 'call':
        return this.#command(item.id, item.name, item.args);
      case 'cancel':
        return this.#cancel(item.id);
      case 'keys':
        this.listensForKeys = item.listens;
        return undefined;
      case 'heard':
        return this.options.onHeard?.();
      case 'log':
        return this.#countAndLog(item.level, item.text);
      case 'limit':
        return this.#exceed(item.limit);
      case 'threw':
        return this.#end(true, new ScriptError(item.code as AuthorCode, item.message, ownLines(item.stack)));
      case 'done':
        return this.#end(true, { value: item.value, vars: item.vars });
      case 'idle':
        return this.#end(true, new ScriptError('stalled', 'the script waits for something that cannot happen', ''));
      case 'unstarted':
        return undefined;
    }
  }

  #command(id: number, name: string, args: readonly Json[]): void {
    if (!offeredCommands(this.options.commands).names.has(name) || this.#commands.has(id))
      return this.lost(`the sandbox requested the command ${name}, which this run does not offer`);
    const exceeded = this.#budget.countCommand(id, name);
    if (exceeded) return this.#exceed(exceeded);
    this.#pace.command(performance.now());
    this.#begins(id, name, args);
  }

  #begins(id: number, name: string, args: readonly Json[]): void {
    const control = new AbortController();
    this.#commands.set(id, { name, args, control });
    void this.#perform(id, name, args, control.signal);
  }

  async #perform(id: number, name: string, args: readonly Json[], signal: AbortSignal): Promise<void> {
    let job: string;
    try {
      const value = await this.options.onCommand(name, args, signal, id);
      job = `{"do":"answer","id":${id},"value":${stringifyPlain(value, this.limits.messageBytes)}}`;
    } catch (error) {
      job = JSON.stringify({ do: 'fail', id, ...describe(name, error) });
    }
    this.#pace.crossed(performance.now(), job.length);
    const wait = this.#pace.wait(performance.now());
    if (wait > 0) {
      const paced = sleep(wait, undefined, { signal }).catch(() => undefined);
      this.options.onWork?.(paced);
      await paced;
    }
    // Dropped when the command was cancelled or the run has ended.
    if (!this.#commands.delete(id)) return;
    this.#budget.settle(id);
    this.#job(job);
  }

  #job(text: string): void {
    if (!this.#link) return;
    this.#sent += 1;
    this.#link.job(text);
    this.#works();
  }

  /** The script is busy until it has handled the last job. */
  #works(): void {
    const { onWork } = this.options;
    if (!onWork) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ sent: this.#sent, resolve });
    onWork(promise);
  }

  #cancel(id: number): void {
    const command = this.#commands.get(id);
    this.#commands.delete(id);
    this.#budget.settle(id);
    command?.control.abort(new ScriptAbortedError('the script cancelled the command'));
  }

  #countAndLog(level: LogLevel, text: string): void {
    const exceeded = this.#budget.countLog(text);
    if (exceeded) this.#exceed(exceeded);
    else this.#log(level, text);
  }

  /** The log of an unfinished turn, within its limit. */
  #logWritten(): void {
    for (const { level, text } of this.#written.splice(0)) {
      if (this.#budget.countLog(text) !== undefined) return;
      this.#log(level, text);
    }
  }

  /** A failing log ends this run only. */
  #log(level: LogLevel, text: string): void {
    try {
      this.options.onLog?.(level, text);
    } catch (error) {
      this.lost(`the log cannot be written: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #abortCommands(): void {
    const commands = [...this.#commands.values()];
    this.#commands.clear();
    for (const { control } of commands) control.abort(new ScriptAbortedError('the script is over'));
  }

  #exceed(limit: LimitName): void {
    this.#end(false, new LimitError(limit, this.limits[limit] ?? 0));
  }

  #end(reusable: boolean, result: SandboxError | Pick<ScriptOutcome, 'value' | 'vars'>): void {
    if (this.isOver) return;
    this.#ended = performance.now();
    if (result instanceof Error) this.#logWritten();
    this.#debuggerUrl?.reject(new ScriptAbortedError('the script is over'));
    clearTimeout(this.#timer);
    this.options.signal?.removeEventListener('abort', this.#abort);
    if (result instanceof Error) this.#outcome.reject(result);
    else this.#outcome.resolve({ ...result, usage: this.usage() });
    this.#abortCommands();
    this.#saving?.end();
    for (const { resolve } of this.#waiting.splice(0)) resolve();
    this.#link?.end(reusable);
    this.#link = undefined;
    this.#begin = '';
    this.#onOver();
  }
}
