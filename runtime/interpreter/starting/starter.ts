import { type Clock, busy } from '../clock.ts';
import { ArgumentError } from '../errors.ts';
import type { ScenarioLibrary } from '../library.ts';
import type { Log } from '../log.ts';
import { type BusEvent, type EventPort, eventName } from '../ports/events.ts';
import type { Program, Start } from '../program.ts';
import type { RunOutcome } from '../run/run.ts';
import type { ScenarioRunner } from '../runner.ts';
import type { Value } from '../values.ts';

const MINUTE_MS = 60_000;

export interface StarterOptions {
  readonly library: ScenarioLibrary;
  readonly runner: ScenarioRunner;
  readonly events?: EventPort;
  /** Domain of starts that name none. */
  readonly domain: string;
  readonly clock: Clock;
  readonly log: Log;
}

export interface HookRequest {
  readonly domain: string;
  /** Values of the scenario's parameters: fields of the query and the body. */
  readonly args: Readonly<Record<string, Value>>;
  /** Milliseconds to wait for the end of the scenario. */
  readonly waitMs: number;
}

/** `unknown`: there is no such scenario, or it has no hook. Without an outcome the scenario goes on. */
export type HookResult =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'started'; readonly run: string; readonly outcome: RunOutcome | undefined };

/** Starts scenarios by schedule, by event and by HTTP request, as their section `starts` says. */
export class ScenarioStarter {
  readonly #options: StarterOptions;
  readonly #control = new AbortController();
  #unsubscribe: (() => void)[] = [];

  constructor(options: StarterOptions) {
    this.#options = options;
    this.#listen();
    void this.#everyMinute();
  }

  /** Starts nothing any more; what runs goes on. */
  close(): void {
    this.#control.abort();
    for (const stop of this.#unsubscribe.splice(0)) stop();
  }

  /** @throws ArgumentError for fields that the parameters do not allow */
  async hook(code: string, { domain, args, waitMs }: HookRequest): Promise<HookResult> {
    const { library, runner, clock } = this.#options;
    const program = await library.program(code);
    const start = program?.starts?.find(({ kind }) => kind === 'hook');
    const allowed = start && (start.domain === undefined || start.domain.toLowerCase() === domain.toLowerCase());
    if (!program || !allowed) return { kind: 'unknown' };
    const run = runner.start(program, { domain, args });
    const done = new AbortController();
    const late = clock.sleep(waitMs, done.signal).catch(() => undefined);
    const outcome = await Promise.race([run.finished, late.then(() => undefined)]);
    done.abort();
    return { kind: 'started', run: run.id, outcome };
  }

  /** One timer for all schedules, at the beginning of each minute. */
  async #everyMinute(): Promise<void> {
    const { clock, library, log } = this.#options;
    const { signal } = this.#control;
    for (;;) {
      const next = Math.floor(clock.now() / MINUTE_MS + 1) * MINUTE_MS;
      try {
        await clock.sleep(next - clock.now(), signal);
      } catch {
        // Closed.
        return;
      }
      try {
        await busy(clock, library.scan());
        if (signal.aborted) return;
        this.#listen();
        await this.#startDue(next);
      } catch (error) {
        log.error({ err: error }, 'schedules could not be looked at');
      }
    }
  }

  async #startDue(now: number): Promise<void> {
    const { library, clock } = this.#options;
    for (const { id } of library.programs()) {
      const program = await busy(clock, library.program(id));
      for (const start of program?.starts ?? [])
        if (program && start.kind === 'schedule' && start.cron.matches(now)) this.#start(program, start, start.args);
    }
  }

  /** Subscribes anew: scenarios come and go. */
  #listen(): void {
    const { events, library, domain } = this.#options;
    for (const stop of this.#unsubscribe.splice(0)) stop();
    if (!events) return;
    for (const program of library.programs()) {
      for (const start of program.starts ?? []) {
        if (start.kind !== 'event') continue;
        const filter = { domain: start.domain ?? domain, ...eventName(start.name) };
        this.#unsubscribe.push(events.subscribe(filter, (event) => void this.#onEvent(program.id, start, event)));
      }
    }
  }

  /** The scenario as it is now. It gets the fields of the event that it has parameters for. */
  async #onEvent(id: string, start: Start, { data }: BusEvent): Promise<void> {
    const { library, log } = this.#options;
    try {
      const program = await library.program(id);
      if (!program) return;
      const wanted = Object.entries(data).filter(([name]) => program.parameters.some((each) => each.name === name));
      this.#start(program, start, { ...start.args, ...Object.fromEntries(wanted) });
    } catch (error) {
      log.error({ scenario: id, err: error }, 'scenario could not be started by an event');
    }
  }

  #start(program: Program, start: Start, args: Readonly<Record<string, Value>>): void {
    const { runner, domain, log } = this.#options;
    try {
      runner.start(program, { domain: start.domain ?? domain, args });
    } catch (error) {
      if (!(error instanceof ArgumentError)) throw error;
      log.error({ scenario: program.id, by: start.kind, err: error }, 'scenario could not be started');
    }
  }
}
