import type { ComponentDefinition, PlaySource, Value } from '../language/index.ts';
import type { Static, TSchema } from 'typebox';
import type { CallPort } from './call-port.ts';
import type { Answer, CallEnd, PartyInfo } from './call-values.ts';
import type { Children } from './run/children.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import type { LogLevel, ScriptHost } from '../sandbox/index.ts';
import type { Mailbox } from './run/mailbox.ts';
import type { Reveal } from './ports/policy.ts';
import type { RunServices } from './ports/services.ts';
import type { Report } from './run/report.ts';

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

/** A component: what a block can do. Runs know components through this interface only. */
export interface Component<Settings extends TSchema = TSchema> extends ComponentDefinition<Settings> {
  run(context: ComponentContext, settings: Static<Settings>): Promise<ComponentResult>;
}

/** Whether a definition is one that can run: programs checked with definitions alone, as an editor may, cannot. */
export function isComponent(definition: ComponentDefinition): definition is Component {
  return 'run' in definition;
}

/** Keeps the settings' type while the component is written down. */
export function defineComponent<const Settings extends TSchema>(component: Component<Settings>): Component<Settings> {
  return component;
}

/** All components by name, handed to the runner by whoever starts it. */
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
