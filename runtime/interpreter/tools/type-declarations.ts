import type { TSchema } from 'typebox';
import type { Component, ComponentRegistry, Outcome } from '../component.ts';
import { BUILT_IN_RECORDS, BUILT_IN_VALUES } from '../checker/names.ts';
import { methods, usesCall } from '../method.ts';
import { settingKind } from '../setting.ts';
import type { ValueType } from '../values.ts';

const TYPES: Readonly<Record<ValueType, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  list: 'readonly Json[]',
  object: '{ readonly [key: string]: Json }',
  any: 'Json',
};

const HEAD = `// Made by "npx ringmaster schema --types" from the components.
/** Data that scenarios work with. */
type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
/** '500ms', '1.5s', '2m', '1h', or a number of milliseconds. */
type Duration = string | number;
/** What a component does; cancel() ends it, and the promise rejects with the code 'cancelled'. */
type Running<T> = Promise<T> & { cancel(): void };
`;

/** What happens while the script does something else. */
const EVENTS = `  /** Calls the listener until the returned function is called. */
  on<T extends keyof ScenarioEvents>(type: T, listener: (event: ScenarioEvents[T]) => void): () => void;
  /** The next one. */
  next<T extends keyof ScenarioEvents>(type: T): Promise<ScenarioEvents[T]>;
`;

const TAIL = `/** What events.on tells of. */
interface ScenarioEvents {
  /** A key of the other party that no component listens for. */
  readonly dtmf: { readonly type: 'dtmf'; readonly digit: string };
  readonly hold: { readonly type: 'hold' };
  readonly unhold: { readonly type: 'unhold' };
  /** A SIP request of the phone within the call: INFO, MESSAGE, NOTIFY. */
  readonly sip: { readonly type: 'sip'; readonly method: string; readonly contentType: string; readonly body: string };
  /** A message of another run. */
  readonly message: { readonly type: 'message'; readonly name: string; readonly data: Json; readonly from: string };
}

/** What goes wrong in a component is thrown as this. */
interface ScenarioError extends Error {
  readonly code: string;
}

/** The class of what components throw. */
declare const ScenarioError: abstract new () => ScenarioError;

/** Secrets by name, for settings of components. Their values do not come here: components put them in. */
declare const secrets: { readonly [name: string]: string };

declare const log: Record<'debug' | 'info' | 'warn' | 'error', (text: string) => void>;
`;

/** TypeScript declarations (`.d.ts`) of what scenario modules use: \`call\` and the globals. */
export function typeDeclarations(components: ComponentRegistry): string {
  const owners = new Map<string, string[]>();
  for (const [method, component] of methods(components)) {
    const dot = method.indexOf('.');
    const owner = dot < 0 ? '' : method.slice(0, dot);
    owners.set(owner, [...(owners.get(owner) ?? []), signature(method.slice(dot + 1), component)]);
  }
  const parts = [...owners].map(([owner, signatures]) => declaration(owner, signatures));
  return [HEAD, ...parts, TAIL].join('\n');
}

function declaration(owner: string, signatures: readonly string[]): string {
  if (owner === '') return signatures.map((line) => line.replace(/^( *)(\w+\()/m, '$1declare function $2')).join('');
  const body = signatures.map((text) => text.replaceAll(/^(?=.)/gm, '  ')).join('');
  const facts = Object.hasOwn(FACTS, owner) ? info(owner as keyof typeof FACTS) : '';
  const own = owner === 'events' ? EVENTS : facts;
  if (owner !== 'call') return `declare const ${owner}: {\n${own}${body}};\n`;
  return `/** The call: the first argument of \`export default async function (call, args)\`. */\ninterface Call {\n${facts}${body}}\n`;
}

/** What `info()` of an owner tells. */
const FACTS = { call: 'Who calls, and how the call stands.', scenario: 'The scenario itself, and the id of this run.' };

function info(owner: keyof typeof FACTS): string {
  const known = BUILT_IN_VALUES.get(owner) ?? {};
  const fields = Object.keys(BUILT_IN_RECORDS.get(owner) ?? {}).map((name) => {
    const values = known[name];
    // Empty before the end.
    const all = name === 'ended_by' ? ['', ...(values ?? [])] : values;
    return `readonly ${name}: ${all === undefined ? 'string' : literals(all)}`;
  });
  return `  /** ${FACTS[owner]} */\n  info(): Promise<{ ${fields.join('; ')} }>;\n`;
}

/** A documented method: settings in, exit and results out. */
function signature(name: string, component: Component): string {
  const { settings, shorthand, openExits } = component;
  const { properties = {} } = settings as { properties?: Readonly<Record<string, TSchema>> };
  const fields = Object.entries(properties).map(([setting, schema]) => {
    const { description } = schema as { description?: string };
    return `  /** ${description ?? ''} */\n  ${setting}${needed(settings, setting) ? '' : '?'}: ${typeOf(schema)};\n`;
  });
  if (openExits)
    fields.push(`  /** The exits that count, e.g. keys; default: every key. */\n  exits?: readonly string[];\n`);
  if (usesCall(component))
    fields.push(
      '  /** The call it is for: a name that `call.call` was given; default: the caller. */\n  leg?: string;\n',
    );
  const optional = Object.keys(properties).every((setting) => !needed(settings, setting)) ? '?' : '';
  const object = fields.length === 0 ? '{}' : `{\n${fields.join('')}}`;
  const single = shorthand === undefined ? '' : ` | ${typeOf(properties[shorthand] ?? {})}`;
  return `/** ${component.summary} */\n${name}(settings${optional}: ${object}${single}): Running<${resultOf(component)}>;\n`;
}

/** What a method gives: one kind of object for each outcome that the component tells of. */
function resultOf({ results, exits, openExits, outcomes }: Component): string {
  const kind = (exit: string, narrowed: Outcome['values']): string => {
    const fields = Object.entries(results).map(([field, { type, values }]) => {
      const known = narrowed[field] ?? values;
      return `readonly ${field}: ${known === undefined ? TYPES[type] : literals(known)}`;
    });
    return `{ ${[`readonly exit: ${exit}`, ...fields].join('; ')} }`;
  };
  if (outcomes !== undefined) return outcomes.map(({ exit, values }) => kind(`'${exit}'`, values)).join(' | ');
  return kind(openExits ? 'string' : literals(Object.keys(exits)) || 'never', {});
}

function literals(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(' | ');
}

/** Whether a setting has to be given: a default makes it optional. */
function needed(settings: TSchema, name: string): boolean {
  const { required = [], properties = {} } = settings as {
    required?: readonly string[];
    properties?: Readonly<Record<string, { default?: unknown }>>;
  };
  return required.includes(name) && properties[name]?.default === undefined;
}

function typeOf(schema: TSchema): string {
  const {
    type,
    enum: values,
    anyOf,
    items,
  } = schema as {
    type?: string;
    enum?: readonly unknown[];
    anyOf?: readonly TSchema[];
    items?: TSchema;
  };
  if (settingKind(schema) === 'duration') return 'Duration';
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (anyOf) return anyOf.map(typeOf).join(' | ');
  if (type === 'array') return `readonly (${typeOf(items ?? {})})[]`;
  if (type === 'object') return '{ readonly [key: string]: Json }';
  if (type === 'integer' || type === 'number') return 'number';
  return type === 'string' || type === 'boolean' ? type : 'Json';
}
