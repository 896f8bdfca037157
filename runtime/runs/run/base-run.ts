/** The common base of runs of blocks and of modules. */
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import type { DomainName } from '../../domain-name/index.ts';
import type { CallPort } from '../call-port.ts';
import {
  type ComponentDefinition,
  parseDuration,
  type Program,
  ScenarioError,
  settingKind,
  suggestName,
  type Value as Plain,
} from '../../language/index.ts';
import { type ComponentResult, isComponent } from '../component.ts';
import { callerOf } from '../run-view.ts';
import { BlockContext, type BlockSite } from './block-context.ts';
import type { RunPlace } from './family.ts';
import type { Message } from './mailbox.ts';
import { type RunEvent, type RunPhase, nextPhase } from './phase.ts';
import type { Run, RunOptions } from './run.ts';
import type { RunOutcome } from './outcome.ts';
import { describeError } from './run-errors.ts';
import { RunState } from './run-state.ts';
import type { SavedBlocks, SavedRun, SavedState } from './saved-run.ts';
import type { Sensitive } from './sensitive.ts';
import { type Span, tracing } from '../../tracing/index.ts';
import type { TraceEntry } from './trace.ts';

/** The site of a component's execution: a block, or a command of a module. */
export interface Performance extends Omit<BlockSite, 'component' | 'memory' | 'claims'> {
  /** Name of the block or command: all visits share its memory. */
  readonly name: string;
}

/** Common base of runs of blocks and of modules. */
export abstract class BaseRun implements Run {
  readonly program: Program;
  protected readonly state: RunState;
  readonly #memories = new Map<string, Map<string, Plain>>();
  readonly #finished = Promise.withResolvers<RunOutcome>();
  readonly #settled = Promise.withResolvers<RunOutcome>();
  #phase: RunPhase = 'main';
  #outcome: RunOutcome | undefined;
  #span: Span | undefined;

  constructor(program: Program, options: RunOptions, place: RunPlace) {
    this.program = program;
    this.state = new RunState(program, options, place);
  }

  get id(): string {
    return this.state.id;
  }

  get domain(): DomainName {
    return this.state.domain;
  }

  get start(): number {
    return this.state.start;
  }

  get trace(): readonly TraceEntry[] {
    return this.state.trace.entries();
  }

  get sensitive(): Sensitive {
    return this.state.sensitive;
  }

  get children(): readonly Run[] {
    return this.state.children.runs;
  }

  get calls(): readonly CallPort[] {
    const { call, legs } = this.state;
    return call === undefined ? legs.calls : [call, ...legs.calls];
  }

  get phase(): RunPhase {
    return this.#phase;
  }

  get outcome(): RunOutcome | undefined {
    return this.#outcome;
  }

  get finished(): Promise<RunOutcome> {
    return this.#finished.promise;
  }

  get settled(): Promise<RunOutcome> {
    return this.#settled.promise;
  }

  get isTaken(): boolean {
    return false;
  }

  abstract stop(reason: string): void;
  abstract save(waitedMs: number): ReturnType<Run['save']>;
  abstract send(message: Message): boolean;

  /**
   * Called last by the constructor of a subclass.
   * @param execute never rejects
   * @param isResumed another node began the run
   */
  protected begin(execute: () => Promise<RunOutcome>, isResumed = false): void {
    if (!isResumed) this.state.news.began(callerOf(this.state.call));
    const span = tracing()?.start(`scenario ${this.program.id}`, 'internal', {
      'ringmaster.run': this.id,
      'ringmaster.domain': this.domain,
      'ringmaster.scenario': this.program.id,
      'sip.call_id': this.state.call?.callid,
    });
    this.#span = span;
    // Starts later, so that the caller receives the run first.
    const executed = Promise.resolve()
      .then(span === undefined ? execute : () => span.run(execute))
      .catch((error: unknown) => this.#broken(error));
    this.#finished.resolve(executed.then((outcome) => (this.#outcome = outcome)));
    void this.finished.then((outcome) => this.settle(outcome));
    this.state.services.runs.add(this);
    this.state.limitTime((milliseconds) => this.#tookTooLong(milliseconds));
    void this.finished.then(() => this.state.unlimitTime());
    void this.finished.then((outcome) => {
      const { error } = outcome;
      if (!this.isTaken) this.state.news.ended(outcome, error && this.sensitive.text(error.code));
    });
    void this.finished.then(({ status, error }) =>
      span?.end(status === 'failed' ? this.sensitive.text(error?.message ?? '') : undefined),
    );
  }

  /** An internal error ends this run and no other. */
  #broken(error: unknown): RunOutcome {
    this.state.fail({ ...describeError(error), block: '' }, error);
    return this.state.outcome();
  }

  /** Ends the run; `finally` still has its time. */
  #tookTooLong(milliseconds: number): void {
    const message = `the run took longer than ${milliseconds} ms`;
    this.state.fail({ code: 'time_limit', message, block: '' }, undefined);
    this.stop(message);
  }

  /** What another node needs of a run of either kind. */
  protected savedWith(args: SavedRun['args'], state: SavedState): SavedRun {
    const { id, domain, start, program } = this;
    const { id: scenario, version, hash, file } = program;
    const { language, clock } = this.state;
    const saved = clock.now();
    return {
      id,
      domain,
      scenario,
      version,
      ...(hash !== undefined && { hash }),
      file,
      language,
      args,
      start,
      saved,
      state,
    };
  }

  /** What its blocks remember between two visits. */
  protected memories(): SavedBlocks['memories'] {
    return Object.fromEntries([...this.#memories].map(([name, memory]) => [name, Object.fromEntries(memory)]));
  }

  protected remember(memories: SavedBlocks['memories']): void {
    for (const [name, memory] of Object.entries(memories)) this.#memories.set(name, new Map(Object.entries(memory)));
  }

  /** Releases those that wait for the run. */
  protected settle(outcome: RunOutcome): void {
    this.#settled.resolve(outcome);
  }

  /** What is sensitive in the run that sent a message is so here, too. */
  protected hear({ from, data, secrets = [] }: Message): void {
    for (const secret of secrets) this.sensitive.add(secret);
    const sender = this.state.services.runs.get(from);
    if (sender) this.sensitive.learn(sender.sensitive, data);
  }

  protected advance(event: RunEvent, hasFinally: boolean): void {
    this.#phase = nextPhase(this.#phase, event, hasFinally);
  }

  /** The span of a failed block has its message without sensitive values. */
  async #spanned(span: Span, work: () => Promise<ComponentResult>): Promise<ComponentResult> {
    try {
      const done = await span.run(work);
      span.end();
      return done;
    } catch (error) {
      span.end(this.sensitive.error(error));
      throw error;
    }
  }

  /**
   * Runs a component.
   * @throws ScenarioError code `setting`, and errors of the component
   */
  protected async perform(
    component: ComponentDefinition,
    settings: unknown,
    site: Performance,
  ): Promise<ComponentResult> {
    if (!isComponent(component))
      throw new Error(
        `${component.name} is described only: the program was checked without the code of its components`,
      );
    const { name, ...rest } = site;
    const subject = subjectOf(component, settings);
    if (subject !== undefined) site.trace.about(subject);
    if (site.leg !== undefined) site.trace.ofLeg(site.leg);
    if (component.exits['digit']?.when?.(settings as never) === true) site.trace.listened();
    if (component.request) site.trace.requested(component.request(settings));
    const secret = isSensitive(settings) ? (component.sensitiveResults ?? []) : [];
    if (secret.length > 0) site.trace.hides(secret);
    const claims: (() => void)[] = [];
    const memory = this.#memories.get(name) ?? new Map<string, Plain>();
    this.#memories.set(name, memory);
    try {
      const context = new BlockContext(this.state, { ...rest, component, memory, claims });
      // Of the run: a module's function comes with events of its process, which have no span.
      const span = this.#span?.child(`block ${name}`, 'internal', { 'ringmaster.component': component.name });
      const done = await (span === undefined
        ? component.run(context, settings)
        : this.#spanned(span, () => component.run(context, settings)));
      for (const field of secret) this.sensitive.add(done.fields?.[field]);
      return done;
    } catch (error) {
      throw site.signal.aborted ? error : this.state.ofAuthor(error, component.name, site.leg);
    } finally {
      for (const drop of claims) drop();
    }
  }
}

/** Whether a block asks for something that no trace may show. */
export function isSensitive(settings: unknown): boolean {
  return typeof settings === 'object' && settings !== null && 'sensitive' in settings && settings.sensitive === true;
}

/** The component's setting for the trace, as a text. */
function subjectOf({ subject }: ComponentDefinition, settings: unknown): string | undefined {
  const value = subject === undefined ? undefined : (settings as Readonly<Record<string, unknown>>)[subject];
  const texts = (Array.isArray(value) ? value : [value]).filter((each): each is string => typeof each === 'string');
  return texts.length === 0 ? undefined : texts.join(' ');
}

/**
 * @param name the author's name for the component
 * @throws ScenarioError code `setting`
 */
export function checkSettings(name: string, { settings: schema }: ComponentDefinition, settings: unknown): void {
  const { properties } = schema as { readonly properties?: Readonly<Record<string, TSchema>> };
  const unknown = properties && Object.keys(settings as object).find((key) => !Object.hasOwn(properties, key));
  if (unknown !== undefined) {
    const instead = suggestName(unknown, Object.keys(properties ?? {}));
    throw new ScenarioError(
      'setting',
      `${name} has no setting "${unknown}"${instead === undefined ? '' : `; ${instead}`}`,
    );
  }
  if (Value.Check(schema, settings)) return checkDurations(name, properties ?? {}, settings as object);
  const [problem] = Value.Errors(schema, settings);
  if (problem?.keyword === 'required' && problem.instancePath === '')
    throw new ScenarioError('setting', `${name} lacks the setting "${problem.params.requiredProperties[0]}"`);
  const where = problem?.instancePath.replace(/^\//, '') ?? '';
  throw new ScenarioError('setting', `${name}: the setting ${where} ${problem?.message ?? 'is not allowed'}`);
}

/** Checks the maximum of a duration, which its pattern cannot express. */
function checkDurations(name: string, properties: Readonly<Record<string, TSchema>>, settings: object): void {
  for (const [key, value] of Object.entries(settings)) {
    const property = properties[key];
    if (property === undefined || settingKind(property) !== 'duration') continue;
    if (parseDuration(String(value)) === undefined)
      throw new ScenarioError('setting', `${name}: the setting ${key} must be at most a week (168h)`);
  }
}
