/** Definitions of components for the checker, editors and docs. */
import type { Static, TSchema } from 'typebox';
import type { ValueType } from './values.ts';

/** The literal settings, known before the run: values of expressions are absent. */
export type LiteralSettings = Readonly<Record<string, unknown>>;

/** A way out of a block. */
export interface ExitDefinition {
  readonly description: string;
  /** The exit taken in place of this one when the block does not name it; without it the exit must be named. */
  readonly otherwise?: string;
  /** True when the exit is possible with these settings; default: always. */
  readonly when?: (settings: LiteralSettings) => boolean;
  /** State of the block's call after this exit, where the block changes it. */
  readonly call?: 'up' | 'over';
}

/** Exits named by the author, e.g. the keys of a menu. */
export interface OpenExits {
  readonly pattern: RegExp;
  /** The setting whose value selects the exit. */
  readonly of?: string;
  readonly description: string;
}

export interface ResultField {
  readonly type: ValueType;
  readonly description: string;
  /** All possible values, where known. */
  readonly values?: readonly string[];
  /** Type of the items or fields of a list or an object; default: known to the author only. */
  readonly schema?: TSchema;
}

/** Kinds of some result fields after this exit. */
export interface Outcome {
  readonly exit: string;
  readonly values: Readonly<Record<string, readonly string[]>>;
}

/** A component's settings, exits and results, without its behaviour. */
export interface ComponentDefinition<Settings extends TSchema = TSchema> {
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  /** Further explanation for authors, in Markdown. */
  readonly docs: string;
  readonly settings: Settings;
  /** The setting of a single value in place of named settings: `play: welcome.wav`. */
  readonly shorthand?: string;
  readonly exits: Readonly<Record<string, ExitDefinition>>;
  readonly openExits?: OpenExits;
  readonly results: Readonly<Record<string, ResultField>>;
  /** Result fields with the answer of a party, which is masked in traces where the setting `sensitive` is true. */
  readonly sensitiveResults?: readonly string[];
  /** Its results are computed from its settings alone. */
  readonly derives?: boolean;
  /** Exits that decide the kinds of result fields. */
  readonly outcomes?: readonly Outcome[];
  /** The exit after which a module gets the results although the other party hung up: a normal way to finish. */
  readonly hangUpExit?: string;
  /** True when the block takes time, so that a loop through it does not spin. */
  readonly waits?: boolean;
  /** A run without a call that waits in it may go on at another node of a cluster: it has no effect before its end. */
  readonly resumes?: boolean;
  /** Its wait ends by itself after a hang-up, within the block's own time limit. */
  readonly hasOwnEnd?: boolean;
  /** It always ends soon; in a module, a hang-up does not cut it short. */
  readonly brief?: boolean;
  /** An exit of limited count: a circle through it ends by itself. */
  readonly bounded?: string;
  /** True when it may set the variable, beside its settings of the kind `assignments`. */
  readonly assigns?: (settings: LiteralSettings, variable: string) => boolean;
  /** Name in scripts and modules; default `call.NAME`; false: not available. */
  readonly method?: string | false;
  /** Other names of settings in modules. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** It begins a call of its own accord, which a draining node refuses to start scenarios for. */
  readonly beginsCall?: boolean;
  /** It begins a call, named by the block's `leg`. */
  readonly placesCall?: boolean;
  /** The setting that names another leg. */
  readonly legSetting?: string;
  /** Required state of the block's call: `incoming` can be answered, `connected` has been answered. */
  readonly needsCall?: 'incoming' | 'connected' | 'any';
  /** The most descriptive setting of a block; the trace shows it. */
  readonly subject?: string;
  /** Its outside request, in the words of a test's answers, e.g. `GET https://a.example/b`. */
  readonly request?: (settings: Static<Settings>) => string;
  /** Codes of the author's own with which it fails: the one in this setting, or any. */
  readonly authorCodes?: { readonly setting: string } | 'any';
  /** Names of the same function in other systems, for suggestions. */
  readonly otherNames?: readonly string[];
  /** The settings with the id of a started scenario and with its arguments. */
  readonly startsScenario?: { readonly scenario: string; readonly args: string };
  /** Mistakes that only this component can find, one sentence each. */
  readonly check?: (
    settings: LiteralSettings,
    exits: ReadonlySet<string>,
    /** Names of the given settings, literals and expressions. */
    given: ReadonlySet<string>,
    /** True for a block with `leg`. */
    leg: boolean,
  ) => readonly string[];
}

/** All components by name, passed to the checker. */
export type ComponentDefinitions = ReadonlyMap<string, ComponentDefinition>;

/** Target of an exit that ends the run. */
export const END = 'end';
/** The exit after a thrown error. Every block may name it; without it the run fails. */
export const ERROR_EXIT = 'error';
