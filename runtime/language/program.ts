import type { ScriptFormat } from '../sandbox/index.ts';
import type { ComponentDefinition } from './component.ts';
import type { Expression, Scope } from './expression/expression.ts';
import type { LimitsWanted } from './limits.ts';
import type { Cron } from './cron.ts';
import { type Value, type ValueType, plainText } from './values.ts';

/** A setting, ready to be evaluated. */
export type Compiled =
  | { readonly kind: 'constant'; readonly value: Value }
  | { readonly kind: 'expression'; readonly expression: Expression }
  | { readonly kind: 'template'; readonly parts: readonly (string | Expression)[] }
  | { readonly kind: 'list'; readonly items: readonly Compiled[] }
  | { readonly kind: 'object'; readonly entries: ReadonlyMap<string, Compiled> };

export interface Parameter {
  readonly name: string;
  readonly type: ValueType;
  readonly description: string | undefined;
  /** Allowed values; undefined: any of the type. */
  readonly values: readonly Value[] | undefined;
  /** May read the parameters before it. Undefined: the parameter must be given. */
  readonly default: Compiled | undefined;
}

export interface Variable {
  readonly name: string;
  readonly type: ValueType;
  /** May read the parameters. */
  readonly initial: Compiled;
}

/** Where a script is in its file; lines and columns count from 1. */
export interface ScriptPlaces {
  /** The line in which it begins. */
  readonly line: number;
  /** Where a line and a column of the script stand. */
  at(line: number, column: number): { readonly line: number; readonly column: number };
}

export interface Block {
  readonly name: string;
  readonly component: ComponentDefinition;
  readonly settings: Compiled;
  /** Name of the call it is for; undefined: the run's own. */
  readonly leg: string | undefined;
  /** Every exit the component can take, with the block it leads to or `end`; `error` only when named. */
  readonly exits: ReadonlyMap<string, string>;
  readonly line: number;
  /** Where its script is in the file, if it has one. */
  readonly script?: ScriptPlaces;
}

export const INTERRUPT_KINDS = ['dtmf', 'hangup', 'hold', 'unhold', 'message', 'sip', 'event', 'after'] as const;
export type InterruptKind = (typeof INTERRUPT_KINDS)[number];

/** Something that cuts the running block short and leads the run elsewhere. */
export interface Interrupt {
  readonly kind: InterruptKind;
  /** The key, the name of the message or event, the SIP method, the duration as written; empty: any. */
  readonly name: string;
  readonly target: string;
  /** Of `after`, from the start of the run. */
  readonly milliseconds: number;
}

/** What starts a scenario beside a call. */
export type Start = {
  /** Undefined: the node's. For a hook: any. */
  readonly domain: string | undefined;
  readonly args: Readonly<Record<string, Value>>;
} & (
  | { readonly kind: 'schedule'; readonly cron: Cron }
  | { readonly kind: 'hook' }
  | { readonly kind: 'event'; readonly name: string }
);

/** The source of a scenario that is a `.js` or `.ts` module. */
export interface ModuleSource {
  readonly source: string;
  readonly format: ScriptFormat;
  /** The components it can use, by their dotted name. */
  readonly methods: ReadonlyMap<string, ComponentDefinition>;
  /** All functions it gets: the components, and what tells it of its call and of itself. */
  readonly commands: readonly string[];
  /** Whether it says which parameters it has; else it takes whatever it is given. */
  readonly declaresParameters: boolean;
}

/** A scenario without mistakes. Immutable: runs that started with it keep it while the file changes. */
export interface Program {
  readonly id: string;
  readonly name: string;
  readonly description: string | undefined;
  /** Hash of the file's text; of an entity its number. */
  readonly version: string;
  /** Id of the entity that it is kept in, for a number tells nothing alone; of a file there is none. */
  readonly entity?: string;
  /** As given to the checker. */
  readonly file: string;
  readonly promptsFolder: string;
  readonly parameters: readonly Parameter[];
  readonly variables: readonly Variable[];
  readonly blocks: ReadonlyMap<string, Block>;
  readonly start: string;
  readonly finally: string | undefined;
  readonly interrupts: readonly Interrupt[];
  readonly starts?: readonly Start[];
  /** What its runs may use, where that is not the usual. */
  readonly limits?: LimitsWanted;
  /** Names of the secrets that it uses. */
  readonly secrets?: readonly string[];
  /** Id of the scenario that gets the call when this one fails. */
  readonly fallback?: string;
  /** Of a module, which has no blocks. */
  readonly module?: ModuleSource;
}

/** Whether a scenario runs scripts. */
export function runsScripts({ module, blocks }: Program): boolean {
  return module !== undefined || [...blocks.values()].some(({ component }) => component.name === 'script');
}

/** @throws ScenarioError code `expression` */
export function evaluate(compiled: Compiled, scope: Scope): Value {
  if (compiled.kind === 'constant') return compiled.value;
  if (compiled.kind === 'expression') return compiled.expression.evaluate(scope);
  if (compiled.kind === 'list') return compiled.items.map((item) => evaluate(item, scope));
  if (compiled.kind === 'object') {
    return Object.fromEntries([...compiled.entries].map(([name, entry]) => [name, evaluate(entry, scope)]));
  }
  return compiled.parts.map((part) => (typeof part === 'string' ? part : plainText(part.evaluate(scope)))).join('');
}

/** The literal part of an object's entries: what is known before the run. */
export function literalSettings(compiled: Compiled): Record<string, Value> {
  if (compiled.kind === 'constant') return compiled.value as Record<string, Value>;
  if (compiled.kind !== 'object') return {};
  const literals: Record<string, Value> = {};
  for (const [name, entry] of compiled.entries) if (entry.kind === 'constant') literals[name] = entry.value;
  return literals;
}
