/** Components with their code, and the interface of a block to its run. */
import type { DomainName } from '../domain-name/index.ts';
import type { ComponentDefinition, PlaySource, Value } from '../language/index.ts';
import type { Static, TSchema } from 'typebox';
import type { CallPort, OwnCall } from './call-port.ts';
import type { Answer, CallEnd, PartyInfo } from './call-values.ts';
import type { Children } from './run/children.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import type { LogLevel, ScriptHost } from '../sandbox/index.ts';
import type { Mailbox } from './run/mailbox.ts';
import type { Reveal } from './ports/policy.ts';
import type { RunServices } from './ports/services.ts';
import type { Report } from './run/report.ts';
import type { Sensitive } from './run/sensitive.ts';

/** The result of a block. */
export interface ComponentResult {
  /** One of the component's exits. */
  readonly exit: string;
  /** Readable afterwards as `blockname.field`; omitted fields get their zero value. */
  readonly fields?: Readonly<Record<string, Value>>;
  /** Variables to change. */
  readonly assign?: Readonly<Record<string, Value>>;
  /** Return value of the scenario; ends the branch. */
  readonly returns?: Value;
}

/** The interface of a block to its run. It outlives the block for `report` and `answered`: answers may come later. */
export interface ComponentContext {
  /** @throws ScenarioError code `no_call` when the run has no call */
  readonly call: CallPort;
  /**
   * Another call of the run, by its name.
   * @throws ScenarioError code `no_such_leg`
   */
  readonly leg: (name: string) => CallPort;
  /** The run's own call, also in a block with `leg`; undefined without one. */
  readonly ownCall: CallPort | undefined;
  /** The present or last party at the other end of the run's own call. */
  readonly caller: PartyInfo | undefined;
  /**
   * A new call of the run in state `none`, by its name.
   * @throws ScenarioError codes `leg_in_use`, `too_many`
   */
  readonly placeLeg: (name: string) => OwnCall;
  /** True: keys and times under `on` do not interrupt, e.g. in a conversation, and are dropped. False: they do again. */
  readonly undisturbed: (on: boolean) => void;
  /** An end of the run's call that `claim` accepts does not cut the block short: the block handles it. */
  readonly claimEnd: (claim: (end: CallEnd) => boolean) => void;
  /** Aborted when the block must end: the call has ended, or the run is stopped. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly log: Log;
  /** Exits with a target in the scenario. */
  readonly exits: ReadonlySet<string>;
  /**
   * Finds sounds as written by the author: prompts in the run's language, URLs, `tone:...`, `silence:...`, `say:...`. It may
   * take as long as a caller may wait for a URL.
   * @throws ScenarioError codes `no_such_prompt`, `no_such_recording`, `no_sound`, `unavailable`, and those of `http`
   */
  readonly sounds: (written: string | readonly string[]) => Promise<readonly PlaySource[]>;
  /** Prompts for the parts of a phrase, in the run's language; undefined unless all are there. */
  readonly recorded: (names: readonly string[]) => Promise<readonly PlaySource[] | undefined>;
  /** Language tag of the run; what is played and said from now on is in it. */
  language: string;
  /** Replaces placeholders by secrets: only for data that leaves the node, never for results. */
  readonly reveal: Reveal;
  /** What callers pressed or said in secret, for runs that get values of this one. */
  readonly sensitive: Sensitive;
  readonly report: (report: Omit<Report, 'at'>) => void;
  /** Id of the scenario. */
  readonly scenario: string;
  /** Id of the run. */
  readonly run: string;
  readonly domain: DomainName;
  readonly services: RunServices;
  /** Memory of the block, kept between visits of the run. */
  readonly memory: Map<string, Value>;
  /** A new file name, unique among the recordings of all runs. */
  readonly nameRecording: () => string;
  /** Sets result fields before the block's end; they stay when it is cut short. */
  readonly result: (fields: Readonly<Record<string, Value>>) => void;
  /** Starts other scenarios, and ends those started by this run: see `Children`. */
  readonly children: Pick<Children, 'start' | 'get' | 'find'>;
  readonly mailbox: Pick<Mailbox, 'receive'>;
  /** A line for the trace and the node's log. */
  readonly note: (level: LogLevel, text: string) => void;
  /** @throws ScenarioError code `unavailable` on a node without scripts */
  readonly script: ScriptHost;
  /** Adds a SIP answer to the trace of this block; `party` is the author's word for the answering party. */
  readonly answered: (party: string, answer: Answer) => void;
}

/** A component with its code. Runs use components only through this interface. */
export interface Component<Settings extends TSchema = TSchema> extends ComponentDefinition<Settings> {
  run(context: ComponentContext, settings: Static<Settings>): Promise<ComponentResult>;
}

/** True for a definition with code; an editor may check programs with definitions alone. */
export function isComponent(definition: ComponentDefinition): definition is Component {
  return 'run' in definition;
}

/** Infers the type of the settings for a component's code. */
export function defineComponent<const Settings extends TSchema>(component: Component<Settings>): Component<Settings> {
  return component;
}

/** All components by name, passed to the runner. */
export type ComponentRegistry = ReadonlyMap<string, Component>;

/** @throws Error when two components have the same name */
export function componentRegistry(components: readonly Component[]): ComponentRegistry {
  const registry = new Map<string, Component>();
  for (const component of components) {
    if (registry.has(component.name)) throw new Error(`two components are named ${component.name}`);
    registry.set(component.name, component);
  }
  return registry;
}
