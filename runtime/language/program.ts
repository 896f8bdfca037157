/** Compiled scenarios. */
import type { ScriptFormat, ScriptModule } from '../sandbox/index.ts';
import type { ComponentDefinition } from './component.ts';
import type { Expression, Scope } from './expression/expression.ts';
import type { LimitsWanted } from './limits.ts';
import type { Cron } from './cron.ts';
import { type Value, type ValueType, plainText } from './values.ts';

/** A compiled setting. */
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
  /** May read the parameters before it. Undefined: the parameter is required. */
  readonly default: Compiled | undefined;
}

export interface Variable {
  readonly name: string;
  readonly type: ValueType;
  /** May read the parameters. */
  readonly initial: Compiled;
}

/** The place of a script in its file; lines and columns count from 1. */
export interface ScriptPlaces {
  /** The line in which it begins. */
  readonly line: number;
  /** The place in the file of a line and a column of the script. */
  at(line: number, column: number): { readonly line: number; readonly column: number };
}

export interface Block {
  readonly name: string;
  readonly component: ComponentDefinition;
  readonly settings: Compiled;
  /** Name of the block's call; undefined: the run's own. */
  readonly leg: string | undefined;
  /** Every possible exit with its target, a block or `end`; `error` only when named. */
  readonly exits: ReadonlyMap<string, string>;
  readonly line: number;
  /** The place of its script in the file; undefined without a script. */
  readonly script?: ScriptPlaces;
}

export const INTERRUPT_KINDS = ['dtmf', 'hangup', 'hold', 'unhold', 'message', 'sip', 'event', 'after'] as const;
export type InterruptKind = (typeof INTERRUPT_KINDS)[number];

/** An interrupt: it cuts the running block short, and the run continues at its target. */
export interface Interrupt {
  readonly kind: InterruptKind;
  /** The key, the name of the message or event, the SIP method, the duration as written; empty: any. */
  readonly name: string;
  readonly target: string;
  /** Of `after`, from the start of the run. */
  readonly milliseconds: number;
}

/** A start of a scenario without a call. */
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
  /** What it imports, directly or not. */
  readonly modules: readonly ScriptModule[];
  /** The available components, by their dotted name. */
  readonly methods: ReadonlyMap<string, ComponentDefinition>;
  /** All its functions: the components, and those for facts of its call and run. */
  readonly commands: readonly string[];
  /** True when it declares its parameters; otherwise it accepts any. */
  readonly declaresParameters: boolean;
}

/** A scenario without mistakes. Immutable: runs that started with it keep it while the file changes. */
export interface Program {
  readonly id: string;
  readonly name: string;
  readonly description: string | undefined;
  /** Its number among the versions of the scenario; where nothing counts them, the hash. */
  readonly version: string;
  /** Hash of the text, where `version` is a number. */
  readonly hash?: string;
  /** Id of its entity, because the entity's number is not unique by itself; undefined for a file. */
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
  /** Limits of its runs that differ from the defaults. */
  readonly limits?: LimitsWanted;
  /** Names of the secrets that it uses. */
  readonly secrets?: readonly string[];
  /** Id of the scenario that takes the call when this one fails. */
  readonly fallback?: string;
  /** Language tag of its runs, where what starts them names none. */
  readonly language?: string;
  /** Set for a module, which has no blocks. */
  readonly module?: ModuleSource;
}

/** Whether a scenario runs scripts. */
export function runsScripts({ module, blocks }: Program): boolean {
  return module !== undefined || [...blocks.values()].some(({ component }) => component.name === 'script');
}

/** Whether a scenario may ask for something that no trace shows; a module that has the word `sensitive` may. */
export function asksInSecret({ module, blocks }: Program): boolean {
  if (module !== undefined) return /\bsensitive\b/.test(module.source);
  return [...blocks.values()].some(({ component, settings }) => {
    if (component.sensitiveResults === undefined) return false;
    const { sensitive } = literalSettings(settings);
    return (
      sensitive === true || (settings.kind === 'object' && settings.entries.get('sensitive')?.kind === 'expression')
    );
  });
}

/**
 * Whether a scenario may begin calls by itself. A module may when its source has the name of a function that does, even in
 * another meaning. Scenarios that it starts are not looked at.
 */
export function beginsCalls({ module, blocks }: Program): boolean {
  if (module === undefined) return [...blocks.values()].some(({ component }) => component.beginsCall === true);
  return [...module.methods].some(([name, { beginsCall }]) => {
    if (beginsCall !== true) return false;
    const called = new RegExp(`\\.\\s*${name.split('.').at(-1)}\\b`);
    return [module, ...module.modules].some(({ source }) => called.test(source));
  });
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

/** All expressions of a setting. */
export function expressionsOf(compiled: Compiled): readonly Expression[] {
  if (compiled.kind === 'expression') return [compiled.expression];
  if (compiled.kind === 'list') return compiled.items.flatMap(expressionsOf);
  if (compiled.kind === 'object') return [...compiled.entries.values()].flatMap(expressionsOf);
  return compiled.kind === 'template' ? compiled.parts.filter((part) => typeof part !== 'string') : [];
}

/** The literal entries of an object, known before the run. */
export function literalSettings(compiled: Compiled): Record<string, Value> {
  if (compiled.kind === 'constant') return compiled.value as Record<string, Value>;
  if (compiled.kind !== 'object') return {};
  const literals: Record<string, Value> = {};
  for (const [name, entry] of compiled.entries) if (entry.kind === 'constant') literals[name] = entry.value;
  return literals;
}
