import type { Static, TSchema } from 'typebox';
import type { ValueType } from './values.ts';

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

/** What a component is to the checker, to editors and to the docs: its settings, exits and results, without what it does. */
export interface ComponentDefinition<Settings extends TSchema = TSchema> {
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
  /** It fails with codes of the author's own: one that the setting names, or any. */
  readonly authorCodes?: { readonly setting: string } | 'any';
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
}

/** All components by name, handed to the checker by whoever starts it. */
export type ComponentDefinitions = ReadonlyMap<string, ComponentDefinition>;

/** Target of an exit that ends the run. */
export const END = 'end';
/** The exit taken when a component throws. Every block may name it; without it the run fails. */
export const ERROR_EXIT = 'error';
