/** Makes the TypeScript declarations for scenario modules. */
import type { TSchema } from 'typebox';
import {
  BUILT_IN_RECORDS,
  BUILT_IN_VALUES,
  type ComponentDefinition,
  type ComponentDefinitions,
  methods,
  type Outcome,
  SCENARIO_ERROR_CODES,
  usesCall,
} from '../../language/index.ts';
import { inputType, literals, resultType } from './typescript-types.ts';

const HEAD = `// Made by "npx ringmaster schema --types" from the components.
/** Data that scenarios work with. */
type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };
/** '500ms', '1.5s', '2m', '1h', or a number of milliseconds. */
type Duration = \`\${number}\${'ms' | 's' | 'm' | 'h'}\` | number;
/** A key of a telephone. */
type Key = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9' | '*' | '#' | 'A' | 'B' | 'C' | 'D';
/** A running component; cancel() ends it, and the promise rejects with the code 'cancelled'. */
type Running<T> = Promise<T> & { cancel(): void };
`;

/** Events that arrive while the script does something else. */
const EVENTS = `  /** Calls the listener until the returned function is called. */
  on<T extends keyof ScenarioEvents>(type: T, listener: (event: ScenarioEvents[T]) => void): () => void;
  /** The next one. */
  next<T extends keyof ScenarioEvents>(type: T): Promise<ScenarioEvents[T]>;
`;

const TAIL = `/** The events of events.on. */
interface ScenarioEvents {
  /** A key of the other party that no component listens for. */
  readonly dtmf: { readonly type: 'dtmf'; readonly digit: string };
  readonly hold: { readonly type: 'hold' };
  readonly unhold: { readonly type: 'unhold' };
  /** A SIP request of the phone within the call: INFO, MESSAGE, NOTIFY. */
  readonly sip: { readonly type: 'sip'; readonly method: string; readonly contentType: string; readonly body: string };
  /** A message of another run. */
  readonly message: { readonly type: 'message'; readonly name: string; readonly data: any; readonly from: string };
}

/** The error of a component. A scenario that throws one fails with its code and message. */
interface ScenarioError extends Error {
  readonly code: ScenarioErrorCode | (string & {});
}

/** Codes of what components throw; docs/scenarios/errors.md says what each means. Codes of your own are any other text. */
type ScenarioErrorCode =
${SCENARIO_ERROR_CODES.map((code) => `  | '${code}'`).join('\n')};

/** The class of what components throw. */
declare const ScenarioError: new (code: string, message?: string) => ScenarioError;

/** Secrets by name, for settings of components. Their values do not come here: components put them in. */
declare const secrets: { readonly [name: string]: string };

/** Writes a line into the trace and the log of the node; what is no text is shown as JSON. */
type Write = (...parts: unknown[]) => void;
declare const log: Write & { readonly debug: Write; readonly info: Write; readonly warn: Write; readonly error: Write };
/** The same. */
interface Console {
  log(...parts: unknown[]): void;
  debug(...parts: unknown[]): void;
  info(...parts: unknown[]): void;
  warn(...parts: unknown[]): void;
  error(...parts: unknown[]): void;
}
// A variable, as other declarations of it are.
declare var console: Console;
`;

/** TypeScript declarations (`.d.ts`) for scenario modules: \`call\` and the globals. */
export function typeDeclarations(components: ComponentDefinitions): string {
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

/** The result type of an owner's `info()`. */
const FACTS = { call: 'Who calls, and how the call stands.', scenario: 'The scenario itself, and the id of this run.' };

function info(owner: keyof typeof FACTS): string {
  const known = BUILT_IN_VALUES.get(owner) ?? {};
  const fields = Object.keys(BUILT_IN_RECORDS.get(owner) ?? {}).map((name) => {
    const values = known[name];
    // Empty before the end of the call.
    const all = name === 'ended_by' ? ['', ...(values ?? [])] : values;
    return `readonly ${name}: ${all === undefined ? 'string' : literals(all)}`;
  });
  return `  /** ${FACTS[owner]} */\n  info(): Promise<{ ${fields.join('; ')} }>;\n`;
}

/** A documented method: settings in, exit and results out. */
function signature(method: string, component: ComponentDefinition): string {
  const { settings, shorthand, openExits } = component;
  const { properties = {} } = settings as { properties?: Readonly<Record<string, TSchema>> };
  const renamed = new Set(Object.values(component.aliases ?? {}));
  const field = (setting: string, name: string): string => {
    const { description, ...schema } = properties[setting] as TSchema & { description?: string };
    return `  /** ${description ?? ''} */\n  ${name}${needed(settings, setting) ? '' : '?'}: ${inputType(schema)};\n`;
  };
  const fields = Object.keys(properties).flatMap((name) => (renamed.has(name) ? [] : [field(name, name)]));
  if (openExits)
    fields.push(`  /** The exits that count, e.g. keys; default: every key. */\n  exits?: readonly Exit[];\n`);
  if (usesCall(component))
    fields.push(
      '  /** The call it is for: a name that `call.call` was given; default: the caller. */\n  leg?: string;\n',
    );
  const optional = Object.keys(properties).every((setting) => !needed(settings, setting)) ? '?' : '';
  const own = fields.length === 0 ? '{}' : `{\n${fields.join('')}}`;
  const object = [own, ...[...renamed].map((name) => anyOfNames(name, component, field))].join(' & ');
  const single = shorthand === undefined ? '' : ` | ${inputType(properties[shorthand] ?? {})}`;
  const given = `settings${optional}: ${object}${single}`;
  return `/** ${component.summary} */\n${method}${generic(component)}(${given}): Running<${resultOf(component)}>;\n`;
}

/** One name of a setting with several names in modules. */
function anyOfNames(
  setting: string,
  { aliases = {} }: ComponentDefinition,
  field: (setting: string, name: string) => string,
): string {
  const names = [setting, ...Object.keys(aliases).filter((name) => aliases[name] === setting)];
  return `(${names.map((name) => `{\n${field(setting, name)}}`).join(' | ')})`;
}

/** Type parameters for types that only the author knows: named exits, and data of the author's own. */
function generic({ results, openExits }: ComponentDefinition): string {
  if (openExits) return '<const Exit extends Key = Key>';
  return Object.values(results).some((field) => resultType(field) === undefined) ? '<Data = any>' : '';
}

/** The result type of a method: one kind of object for each declared outcome. */
function resultOf({ results, exits, openExits, outcomes }: ComponentDefinition): string {
  const kind = (exit: string, narrowed: Outcome['values']): string => {
    const fields = Object.entries(results).map(([field, result]) => {
      const known = narrowed[field];
      const open = result.type === 'list' ? 'readonly Data[]' : 'Data';
      return `readonly ${field}: ${known === undefined ? (resultType(result) ?? open) : literals(known)}`;
    });
    return `{ ${[`readonly exit: ${exit}`, ...fields].join('; ')} }`;
  };
  if (outcomes !== undefined) return outcomes.map(({ exit, values }) => kind(`'${exit}'`, values)).join(' | ');
  const own = literals(Object.keys(exits)) || 'never';
  return kind(openExits ? `Exit | ${own}` : own, {});
}

/** True for a required setting: a default makes it optional. */
function needed(settings: TSchema, name: string): boolean {
  const { required = [], properties = {} } = settings as {
    required?: readonly string[];
    properties?: Readonly<Record<string, { default?: unknown }>>;
  };
  return required.includes(name) && properties[name]?.default === undefined;
}
