import type { Static, TSchema } from 'typebox';
import type { Answer, CallEnd, CallPort, PartyInfo, PlaySource } from './call-port.ts';
import type { Children } from './run/children.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import type { LogLevel, ScriptHost } from '../sandbox/index.ts';
import type { Mailbox } from './run/mailbox.ts';
import type { Reveal } from './ports/policy.ts';
import type { RunServices } from './ports/services.ts';
import type { Value, ValueType } from './values.ts';

/** Settings as far as they are known before the run: an expression's value is absent. */
export type LiteralSettings = Readonly<Record<string, unknown>>;

/** A way out of a block. */
export interface ExitDefinition {
  readonly description: string;
  /** Where the run goes when the block does not name this exit; without it the exit has to be named. */
  readonly otherwise?: string;
  /** Whether the exit can happen with these settings; default: always. */
  readonly when?: (settings: LiteralSettings) => boolean;
  /** How the call that the block is for stands after this exit, where the block changes it. */
  readonly call?: 'up' | 'over';
}

/** Exits named by the author, e.g. the keys of a menu. */
export interface OpenExits {
  readonly pattern: RegExp;
  /** The setting with whose value they are compared. */
  readonly of?: string;
  readonly description: string;
}

export interface ResultField {
  readonly type: ValueType;
  readonly description: string;
  /** All that it can be, where that is known. */
  readonly values?: readonly string[];
  /** What is in a list or an object; left out: the author knows. */
  readonly schema?: TSchema;
}

/** What some result fields are when a block ends by this exit. */
export interface Outcome {
  readonly exit: string;
  readonly values: Readonly<Record<string, readonly string[]>>;
}

/** What the run learns when a block is done. */
export interface ComponentResult {
  /** One of the component's exits. */
  readonly exit: string;
  /** Readable afterwards as `blockname.field`; fields left out get their zero value. */
  readonly fields?: Readonly<Record<string, Value>>;
  /** Variables to change. */
  readonly assign?: Readonly<Record<string, Value>>;
  /** Ends the branch: what the scenario gives to whoever called it. */
  readonly returns?: Value;
}

/** Something that happened to an operation the scenario serves (specification, "Response modes"). */
export interface Report {
  /** `F initiated`, `F provisional`, `F final`, the same with `T`, `finished`. */
  readonly milestone: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly callid?: string;
  readonly dialogid?: string;
  readonly answer?: Answer;
  /** Result fields set by the scenario itself. */
  readonly fields?: Readonly<Record<string, Value>>;
}

/** What a component may use. It outlives the block for `report` and `answered`: answers come while the run goes on. */
export interface ComponentContext {
  /** @throws ScenarioError code `no_call` when the run has none */
  readonly call: CallPort;
  /**
   * Another call of the run, by its name.
   * @throws ScenarioError code `no_such_leg`
   */
  readonly leg: (name: string) => CallPort;
  /** Whoever is, or was, at the other end of the run's own call. */
  readonly caller: PartyInfo | undefined;
  /** An end of the run's call that `claim` accepts does not cut the block short: it deals with it by itself. */
  readonly claimEnd: (claim: (end: CallEnd) => boolean) => void;
  /** Aborted when the block has to end: the call is over, or the run is stopped. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly log: Log;
  /** Exits that the author wired. */
  readonly exits: ReadonlySet<string>;
  /**
   * A sound as authors write it (a file of the prompts folder, `tone:...`, `silence:...`) as something to play.
   * @throws ScenarioError code `no_such_prompt`
   */
  readonly sound: (text: string) => PlaySource;
  /** Puts secrets in place of the texts that stand for them: for what leaves the node, and for no result. */
  readonly reveal: Reveal;
  readonly report: (report: Omit<Report, 'at'>) => void;
  /** Id of the scenario. */
  readonly scenario: string;
  /** Id of the run. */
  readonly run: string;
  readonly domain: string;
  readonly services: RunServices;
  /** Kept between two visits of the run to this block. */
  readonly memory: Map<string, Value>;
  /** The name of a new file, which no other recording of any run has. */
  readonly nameRecording: () => string;
  /** Sets result fields before the block is done: they stay when it is cut short. */
  readonly result: (fields: Readonly<Record<string, Value>>) => void;
  /** Starts another scenario, or ends those this run has started: see `Children`. */
  readonly children: Pick<Children, 'start' | 'get' | 'find'>;
  readonly mailbox: Pick<Mailbox, 'receive'>;
  /** A line for the trace and the node's log. */
  readonly note: (level: LogLevel, text: string) => void;
  /** @throws ScenarioError code `unavailable` when the node runs no scripts */
  readonly script: ScriptHost;
  /** Writes a SIP answer into the trace of this block; `party` is the author's word for whoever answered. */
  readonly answered: (party: string, answer: Answer) => void;
}

/** A component: what a block can do. The interpreter knows components through this interface only. */
export interface Component<Settings extends TSchema = TSchema> {
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  /** What an author should know beyond the tables, in Markdown. */
  readonly docs: string;
  readonly settings: Settings;
  /** The setting meant when a block gives a single value instead of named settings: `play: welcome.wav`. */
  readonly shorthand?: string;
  readonly exits: Readonly<Record<string, ExitDefinition>>;
  readonly openExits?: OpenExits;
  readonly results: Readonly<Record<string, ResultField>>;
  /** Exits that say more of the results: the kinds of what it gives. */
  readonly outcomes?: readonly Outcome[];
  /** The exit by which a module has its results also when the other party hung up: that is one way to finish it. */
  readonly hangUpExit?: string;
  /** Whether the block takes time, so that a loop through it does not spin. */
  readonly waits?: boolean;
  /** What it waits for ends by itself after a hang-up, and takes the time that it may take. */
  readonly hasOwnEnd?: boolean;
  /** It is done soon, whatever happens: in a module, what it does is not left half done by a hang-up. */
  readonly brief?: boolean;
  /** An exit that is taken a number of times only: a circle through it comes to an end by itself. */
  readonly bounded?: string;
  /** Whether it may set the variable, beside what its settings of the kind `assignments` say. */
  readonly assigns?: (settings: LiteralSettings, variable: string) => boolean;
  /** Name in scripts and modules, `call.NAME` unless given; false: not there. */
  readonly method?: string | false;
  /** Other names of settings in modules. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** It begins a call, of its own under the name of the block's `leg`. */
  readonly placesCall?: boolean;
  /** The setting that names another leg. */
  readonly legSetting?: string;
  /** How the call has to stand that the block is for: `incoming` can be answered, `connected` has been. */
  readonly needsCall?: 'incoming' | 'connected' | 'any';
  /** The setting that says best what a block is about; the trace shows it. */
  readonly subject?: string;
  /** What it asks of others, by the words with which a test gives the answer, e.g. `GET https://a.example/b`. */
  readonly request?: (settings: Static<Settings>) => string;
  /** What authors may call it who know other systems. */
  readonly otherNames?: readonly string[];
  /** The settings that name a scenario it starts, and the values of that scenario's parameters. */
  readonly startsScenario?: { readonly scenario: string; readonly args: string };
  /** Mistakes that only this component can see, one sentence each. */
  readonly check?: (
    settings: LiteralSettings,
    exits: ReadonlySet<string>,
    /** Names of the settings that are there, by a literal or an expression. */
    given: ReadonlySet<string>,
    /** Whether it is for a further call of the scenario. */
    leg: boolean,
  ) => readonly string[];
  run(context: ComponentContext, settings: Static<Settings>): Promise<ComponentResult>;
}

/** Keeps the settings' type while the component is written down. */
export function defineComponent<const Settings extends TSchema>(component: Component<Settings>): Component<Settings> {
  return component;
}

/** All components by name, handed to the interpreter by whoever starts it. */
export type ComponentRegistry = ReadonlyMap<string, Component>;

/** @throws Error when two components have one name */
export function componentRegistry(components: readonly Component[]): ComponentRegistry {
  const registry = new Map<string, Component>();
  for (const component of components) {
    if (registry.has(component.name)) throw new Error(`two components are named ${component.name}`);
    registry.set(component.name, component);
  }
  return registry;
}

/** Target of an exit that ends the run. */
export const END = 'end';
/** The exit taken when a component throws. Every block may name it; without it the run fails. */
export const ERROR_EXIT = 'error';
