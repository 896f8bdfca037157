/** The context in which a component runs. */
import type { DomainName } from '../../domain-name/index.ts';
import type { LogLevel } from '../../sandbox/index.ts';
import type { CallPort } from '../call-port.ts';
import type { CallEnd } from '../call-values.ts';
import type { Clock } from '../clock.ts';
import {
  type ComponentDefinition,
  listOf,
  type PlaySource,
  ScenarioError,
  type ScriptPlaces,
  type Value,
} from '../../language/index.ts';
import type { ComponentContext } from '../component.ts';
import { callEnded } from './run-errors.ts';
import type { RunState } from './run-state.ts';
import { scriptHost } from './script-host.ts';
import { openRecorded, openSounds } from './sounds.ts';
import type { BlockTrace } from './trace.ts';

/** The block of a running component. */
export interface BlockSite {
  readonly component: ComponentDefinition;
  /** Name of its call; undefined: the run's own. */
  readonly leg: string | undefined;
  /** Place of its script in the file. */
  readonly script?: ScriptPlaces | undefined;
  readonly exits: ReadonlySet<string>;
  readonly trace: BlockTrace;
  readonly signal: AbortSignal;
  readonly memory: Map<string, Value>;
  readonly result: (fields: Readonly<Record<string, Value>>) => void;
  /** Of a block that another node began; default: the run's. */
  readonly clock?: Clock | undefined;
  /** Called at the end of the block. */
  readonly claims: (() => void)[];
}

/**
 * Implements `ComponentContext`. Its functions work without `this`, because components destructure them. It is a class
 * because V8 makes a hash table of a literal with so many functions and getters: 1.4 kB more for a waiting block.
 */
export class BlockContext implements ComponentContext {
  readonly leg: ComponentContext['leg'];
  readonly placeLeg: ComponentContext['placeLeg'];
  readonly undisturbed: ComponentContext['undisturbed'];
  readonly claimEnd: ComponentContext['claimEnd'];
  readonly signal: AbortSignal;
  readonly clock: ComponentContext['clock'];
  readonly log: ComponentContext['log'];
  readonly exits: ComponentContext['exits'];
  readonly scenario: string;
  readonly run: string;
  readonly domain: DomainName;
  readonly services: ComponentContext['services'];
  readonly memory: ComponentContext['memory'];
  readonly mailbox: ComponentContext['mailbox'];
  readonly nameRecording: ComponentContext['nameRecording'];
  readonly result: ComponentContext['result'];
  readonly children: ComponentContext['children'];
  readonly reveal: ComponentContext['reveal'];
  readonly sounds: ComponentContext['sounds'];
  readonly recorded: ComponentContext['recorded'];
  readonly report: ComponentContext['report'];
  readonly sensitive: ComponentContext['sensitive'];
  readonly answered: ComponentContext['answered'];
  readonly note: ComponentContext['note'];
  readonly #state: RunState;
  readonly #site: BlockSite;
  #call: CallPort | undefined;

  constructor(state: RunState, site: BlockSite) {
    const { trace } = site;
    this.#state = state;
    this.#site = site;
    this.leg = (name) => state.legs.get(name);
    this.placeLeg = (name) => state.legs.place(name);
    this.undisturbed = (on) => void (state.undisturbed = on);
    this.claimEnd = (claim) => void site.claims.push(state.claimEnd(claim));
    this.signal = site.signal;
    this.clock = site.clock ?? state.clock;
    this.log = state.log;
    this.exits = site.exits;
    this.scenario = state.program.id;
    this.run = state.id;
    this.domain = state.domain;
    this.services = state.services;
    this.memory = site.memory;
    this.mailbox = state.mailbox;
    this.nameRecording = () => state.nameRecording();
    this.result = site.result;
    this.children = childrenOf(state, site);
    this.reveal = state.secrets.reveal;
    this.sensitive = state.sensitive;
    this.recorded = (names) => openRecorded(state, names, site.signal);
    this.sounds = (written) => sounds(state, site, listOf(written));
    this.report = (report) => state.report(report);
    this.answered = (party, answer) => trace.answered(state.clock.now(), party, answer);
    this.note = (level, text) => note(state, trace, level, text);
  }

  get call(): CallPort {
    this.#call ??= callOf(this.#state, this.#site);
    return this.#call;
  }

  get language(): string {
    return this.#state.language;
  }

  set language(language: string) {
    this.#state.language = language;
  }

  get ownCall(): CallPort | undefined {
    return this.#state.call;
  }

  get caller(): ComponentContext['caller'] {
    return this.#state.call?.opponent;
  }

  get script(): ComponentContext['script'] {
    return scriptHost(this.#state, this.#site);
  }
}

function childrenOf({ legs, children }: RunState, { leg, trace }: BlockSite): ComponentContext['children'] {
  return {
    get: (id) => children.get(id),
    find: (scenario) => children.find(scenario),
    start: async (options) => {
      const own = leg === undefined || options.parallel ? {} : { call: legs.get(leg) };
      const run = await children.start({ ...own, ...options });
      trace.started(run.id);
      return run;
    },
  };
}

/** @throws ScenarioError codes `no_call`, `no_such_leg`, and those of `Legs.place` */
function callOf(state: RunState, { component, leg }: BlockSite): CallPort {
  if (leg !== undefined) return component.placesCall === true ? state.legs.place(leg) : state.legs.get(leg);
  if (!state.call) throw new ScenarioError('no_call', `${component.name} needs a call, and this run has none`);
  return state.call;
}

/** @throws ScenarioError as `openSounds`, and `call_ended` when the call ends meanwhile */
async function sounds(state: RunState, site: BlockSite, written: readonly string[]): Promise<readonly PlaySource[]> {
  const { leg, component, signal } = site;
  const call = leg === undefined ? state.call : state.legs.find(leg);
  const endSignal = component.needsCall !== undefined && call?.endSignal.aborted === false ? call.endSignal : undefined;
  const found = await openSounds(state, written, signal);
  if (endSignal?.aborted === true) throw callEnded(endSignal.reason as CallEnd, leg);
  return found;
}

function note(state: RunState, trace: BlockTrace, level: LogLevel, text: string): void {
  const { id, program, log, allowed } = state;
  const counted = state.countLogLine();
  if (counted === 'left_out') return;
  if (counted === 'first_left_out') {
    const notice = `the limit "log" of ${allowed.log} lines is reached; this line and all further ones are left out`;
    trace.logged(`warn: ${notice}`);
    log.warn({ run: id, scenario: program.id }, notice);
    return;
  }
  trace.logged(`${level}: ${text}`);
  log[level]({ run: id, scenario: program.id, text }, 'scenario says');
}
