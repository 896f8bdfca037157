/** Starts scenarios by schedules, events and requests. */
import { asDomainName, type DomainName } from '../../domain-name/index.ts';
import { type Clock, busy } from '../clock.ts';
import {
  ArgumentError,
  beginsCalls,
  type Program,
  type ScenarioSource,
  type Start,
  type Value,
  type ValueType,
} from '../../language/index.ts';
import type { Log } from '../log.ts';
import { type BusEvent, type EventPort, eventName } from '../ports/events.ts';
import type { Run } from '../run/run.ts';
import type { RunOutcome } from '../run/outcome.ts';
import type { ScenarioRunner } from '../runner.ts';
import { StartRate } from './start-rate.ts';

const MINUTE_MS = 60_000;
const NOT_HERE: StartRefusal = { reason: 'no node that runs scenarios accepts the start', retryAfterSeconds: 1 };
const FULL: StartRefusal = { reason: 'the node takes no more calls', retryAfterSeconds: 1 };

export interface StarterOptions {
  readonly library: ScenarioSource;
  readonly runner: ScenarioRunner;
  readonly events?: EventPort;
  /** Domain of starts without one. */
  readonly domain: DomainName;
  /** The domain that a scenario's section `starts` names; undefined for an unknown one. */
  readonly domainOf: (name: string) => DomainName | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * True when this node is the one that starts a scenario at a time. Absent: it is the only one.
   * @param start the same text at all nodes
   */
  readonly claim?: ((start: string) => Promise<boolean>) | undefined;
  /** The refusal of starts of scenarios that begin calls, while the node drains. */
  readonly refusal?: () => StartRefusal | undefined;
  /** Undefined on a single node. */
  readonly elsewhere?: StartsElsewhere | undefined;
  /** False: the other nodes start what schedules, events and requests ask for. Default: true. */
  readonly starts?: boolean;
  /** True while the node takes no more calls. Asked where another node may start a scenario that begins calls. */
  readonly isFull?: () => boolean;
}

/** Starts at other nodes. */
export interface StartsElsewhere {
  /**
   * Starts a scenario at the first node that has room.
   * @returns undefined when none has
   * @throws ArgumentError; ScenarioError code `node_unreachable`
   */
  start(code: string, request: HookRequest): Promise<HookResult | undefined>;
}

/** Why a scenario is not started now. */
export interface StartRefusal {
  readonly reason: string;
  readonly retryAfterSeconds: number;
}

export interface HookRequest {
  readonly domain: DomainName;
  /** Values of parameters: fields of the query and the body. */
  readonly args: Readonly<Record<string, Value>>;
  /** The same as texts, from a query: converted to the types of the parameters. */
  readonly texts?: Readonly<Record<string, string>>;
  /** Limit of the wait for the scenario's end, in milliseconds. */
  readonly waitMs: number;
}

/** `unknown`: no such scenario, or no hook. Without an outcome the scenario is still running. */
export type ServiceResult =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'started'; readonly run: string; readonly outcome: RunOutcome | undefined };

/** `refused`: it would begin calls, which the node does not take now. */
export type HookResult = ServiceResult | ({ readonly kind: 'refused' } & StartRefusal);

/** Starts scenarios by schedule, event and HTTP request, from their section `starts`. */
export class ScenarioStarter {
  readonly #options: StarterOptions;
  readonly #control = new AbortController();
  /** Rates of scenarios that events start, by domain and id. */
  readonly #rates = new Map<string, StartRate>();
  /** Number of refused starts since the last log line. */
  #leftOut = 0;
  #unsubscribe: (() => void)[] = [];

  constructor(options: StarterOptions) {
    this.#options = options;
    this.#listen();
    if (options.starts !== false) void this.#everyMinute();
  }

  /** Stops starting scenarios; live runs continue. */
  close(): void {
    this.#control.abort();
    for (const stop of this.#unsubscribe.splice(0)) stop();
  }

  /**
   * Starts a scenario with a hook, by a request.
   *
   * @throws ArgumentError for fields that the parameters do not allow
   */
  async hook(code: string, request: HookRequest): Promise<HookResult> {
    const { domain } = request;
    const program = await this.#options.library.program(code, domain, { use: 'service' });
    const start = program?.starts?.find(({ kind }) => kind === 'hook');
    const allowed = start && (start.domain === undefined || this.#options.domainOf(start.domain) === domain);
    if (!program || !allowed) return { kind: 'unknown' };
    const refusal = this.#refusal(program);
    if (refusal !== undefined || this.#isFull(program)) {
      const started = await this.#options.elsewhere?.start(code, request);
      if (started !== undefined) return started;
    }
    return refusal ? { kind: 'refused', ...refusal } : await this.#request(program, request);
  }

  /**
   * Starts a scenario that another node has no room for.
   * @throws ArgumentError for fields that the parameters do not allow
   */
  async startHere(code: string, request: HookRequest): Promise<HookResult> {
    const program = await this.#options.library.program(code, request.domain, { use: 'service' });
    if (program === undefined) return { kind: 'unknown' };
    const refusal = this.#refusal(program) ?? (this.#isFull(program) ? FULL : undefined);
    return refusal ? { kind: 'refused', ...refusal } : await this.#request(program, request);
  }

  /**
   * Starts a scenario for the platform itself, with or without `starts`. Its arguments are hidden: they may contain a
   * token.
   *
   * @throws ArgumentError for fields that the parameters do not allow
   */
  async service(code: string, request: HookRequest): Promise<ServiceResult> {
    const program = await this.#options.library.program(code, request.domain, { use: 'service' });
    return program ? await this.#request(program, request, true) : { kind: 'unknown' };
  }

  async #request(
    program: Program,
    { domain, args, texts = {}, waitMs }: HookRequest,
    unseen = false,
  ): Promise<ServiceResult> {
    const { runner, clock } = this.#options;
    const run = runner.start(program, { domain, args: { ...read(program, texts), ...args }, unseen });
    const done = new AbortController();
    const late = clock.sleep(waitMs, done.signal).catch(() => undefined);
    const outcome = await Promise.race([run.settled, late.then(() => undefined)]);
    done.abort();
    return { kind: 'started', run: run.id, outcome };
  }

  /** One timer for all schedules, at the start of each minute. */
  async #everyMinute(): Promise<void> {
    const { clock, library, log } = this.#options;
    const { signal } = this.#control;
    for (;;) {
      const next = Math.floor(clock.now() / MINUTE_MS + 1) * MINUTE_MS;
      try {
        await clock.sleep(next - clock.now(), signal);
      } catch {
        // The starter was closed.
        return;
      }
      try {
        await busy(clock, library.scan());
        if (signal.aborted) return;
        this.#listen();
        await this.#startDue(next);
      } catch (error) {
        log.error({ err: error }, 'schedules could not be checked');
      }
    }
  }

  async #startDue(now: number): Promise<void> {
    const { library, clock, domain } = this.#options;
    for (const { id, domain: only } of library.starting()) {
      const program = await busy(clock, library.program(id, only ?? domain, { use: 'service' }));
      for (const [at, start] of (program?.starts ?? []).entries()) {
        if (!program || start.kind !== 'schedule' || !start.cron.matches(now)) continue;
        const where = this.#domainOf(start, only);
        await this.#startOnce(`${where} ${id} ${at} ${now}`, program, start, where);
      }
    }
  }

  /** Starts a scenario, unless another node does, or this one must not. */
  async #startOnce(name: string, program: Program, start: Start, domain: DomainName): Promise<void> {
    const { claim, log, clock } = this.#options;
    try {
      // A node that drains leaves it to another one.
      if (claim !== undefined && this.#refusal(program) === undefined && !(await busy(clock, claim(name)))) return;
      this.#startUnlessRefused(program, start, domain, start.args);
    } catch (error) {
      log.error({ scenario: program.id, err: error }, 'scenario could not be started by a schedule');
    }
  }

  /** Call after scenarios were added, changed or deleted. */
  refresh(): void {
    if (!this.#control.signal.aborted) this.#listen();
  }

  /** Subscribes anew to the events of the present scenarios. */
  #listen(): void {
    const { events, library } = this.#options;
    for (const stop of this.#unsubscribe.splice(0)) stop();
    if (!events) return;
    for (const { id, starts, domain: only } of library.starting()) {
      for (const start of starts) {
        if (start.kind !== 'event') continue;
        const domain = this.#domainOf(start, only);
        const filter = { domain, ...eventName(start.name) };
        this.#unsubscribe.push(events.subscribe(filter, (event) => void this.#onEvent(id, start, domain, event)));
      }
    }
  }

  /** Starts the current version. It gets the event's fields for its parameters; a module without declared parameters gets all. */
  async #onEvent(id: string, start: Start, domain: DomainName, { type, data, elsewhere }: BusEvent): Promise<void> {
    if (elsewhere === true) return;
    const { library, log, clock } = this.#options;
    const rate = this.#rate(id, domain);
    if (!rate.take(clock.now())) return this.#leaveOut(id, type);
    try {
      const program = await library.program(id, domain, { use: 'service' });
      if (!program) return;
      const args = { ...start.args, ...wanted(program, data) };
      // A node that drains leaves it to another one.
      const { elsewhere: others } = this.#options;
      const isLeft = others !== undefined && (this.#refusal(program) !== undefined || this.#isFull(program));
      if (isLeft && (await others.start(id, { domain, args, waitMs: 0 })) !== undefined) return;
      await this.#startUnlessRefused(program, start, domain, args)?.finished;
    } catch (error) {
      log.error({ scenario: id, err: error }, 'scenario could not be started by an event');
    } finally {
      rate.ended();
    }
  }

  /**
   * Where a start is. An unknown domain keeps the name it was given: nothing happens there until it is created.
   * @param only the scenario's own domain: it never starts in another
   */
  #domainOf({ domain: named }: Start, only: DomainName | undefined): DomainName {
    const { domain, domainOf } = this.#options;
    if (only !== undefined || named === undefined) return only ?? domain;
    return domainOf(named) ?? asDomainName(named);
  }

  #rate(id: string, domain: DomainName): StartRate {
    const key = `${domain} ${id}`;
    const known = this.#rates.get(key) ?? new StartRate();
    this.#rates.set(key, known);
    return known;
  }

  /** Logs the first refused start, and their number once a minute. */
  #leaveOut(scenario: string, event: string): void {
    this.#leftOut += 1;
    if (this.#leftOut > 1) return;
    const { log, clock } = this.#options;
    log.warn({ scenario, event }, 'too many starts by events: some are left out');
    clock.sleep(MINUTE_MS, this.#control.signal).then(
      () => {
        log.warn({ starts: this.#leftOut }, 'starts by events refused in a minute');
        this.#leftOut = 0;
      },
      () => undefined,
    );
  }

  #refusal(program: Program): StartRefusal | undefined {
    if (this.#options.starts === false) return NOT_HERE;
    const refusal = this.#options.refusal?.();
    return refusal && beginsCalls(program) ? refusal : undefined;
  }

  #isFull(program: Program): boolean {
    const { elsewhere, isFull } = this.#options;
    return elsewhere !== undefined && beginsCalls(program) && isFull?.() === true;
  }

  #startUnlessRefused(
    program: Program,
    start: Start,
    domain: DomainName,
    args: Readonly<Record<string, Value>>,
  ): Run | undefined {
    const refusal = this.#refusal(program);
    if (refusal === undefined) return this.#start(program, start, domain, args);
    this.#options.log.warn({ scenario: program.id, by: start.kind, ...refusal }, 'scenario not started');
    return undefined;
  }

  #start(program: Program, start: Start, domain: DomainName, args: Readonly<Record<string, Value>>): Run | undefined {
    const { runner, log } = this.#options;
    try {
      return runner.start(program, { domain, args });
    } catch (error) {
      if (!(error instanceof ArgumentError)) throw error;
      log.error({ scenario: program.id, by: start.kind, err: error }, 'scenario could not be started');
      return undefined;
    }
  }
}

function wanted({ parameters, module }: Program, data: Readonly<Record<string, Value>>): Record<string, Value> {
  if (module?.declaresParameters === false) return data;
  return Object.fromEntries(Object.entries(data).filter(([name]) => parameters.some((each) => each.name === name)));
}

/** Texts as values of the parameters' types; an invalid one stays a text, which the check refuses. */
function read({ parameters }: Program, texts: Readonly<Record<string, string>>): Record<string, Value> {
  const types = new Map(parameters.map(({ name, type }) => [name, type]));
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, readText(text, types.get(name))]));
}

function readText(text: string, type: ValueType | undefined): Value {
  if (type === undefined || type === 'string' || type === 'any') return text;
  try {
    return JSON.parse(text) as Value;
  } catch {
    return text;
  }
}
