import { type Node, isMap, isScalar } from 'yaml';
import { suggestName } from '../../problem.ts';
import type { Parameter, Start } from '../../program.ts';
import { Cron, CronError } from '../../cron.ts';
import { type Value, isOfType, plainText } from '../../values.ts';
import { type Entry, type Source, scalarText } from '../text/source.ts';

const KINDS = ['schedule', 'hook', 'event'];
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  schedule: ['cron', 'timezone', 'domain', 'args'],
  hook: ['domain'],
  event: ['name', 'domain', 'args'],
};

/** Reads the section `starts`: the schedules, hooks and events that start the scenario. */
export function readStarts(source: Source, node: Node | null, parameters: readonly Parameter[]): Start[] {
  if (node === null || (isScalar(node) && node.value === null)) return [];
  if (!isMap(node)) {
    source.problem(node, 'starts must be a map', 'e.g. starts: { schedule: { cron: "0 9 * * mon-fri" } }');
    return [];
  }
  return source.entries(node).flatMap((entry) => {
    if (KINDS.includes(entry.key)) return readStart(source, entry, parameters) ?? [];
    source.problem(entry.keyNode, `there is no start "${entry.key}"`, suggestName(entry.key, KINDS));
    return [];
  });
}

function readStart(
  source: Source,
  { key, keyNode, value }: Entry,
  parameters: readonly Parameter[],
): Start | undefined {
  const fields = new Map<string, Entry>();
  const known = FIELDS[key] ?? [];
  for (const entry of isMap(value) ? source.entries(value) : []) {
    if (known.includes(entry.key)) fields.set(entry.key, entry);
    else source.problem(entry.keyNode, `"${key}" has no "${entry.key}"`, suggestName(entry.key, known));
  }
  const text = (name: string): string | undefined => {
    const node = fields.get(name)?.value;
    return isScalar(node) && node.value !== null ? scalarText(node) : undefined;
  };
  const single = isScalar(value) && value.value !== null ? scalarText(value) : undefined;
  const common = {
    domain: text('domain'),
    args: (fields.get('args')?.value?.toJSON() ?? {}) as Readonly<Record<string, Value>>,
  };
  // Parameters of an event or request are checked on its arrival.
  const wholly = single === undefined ? undefined : `write schedule: { cron: "${single}", args: { ... } }`;
  checkArguments(source, fields.get('args'), key === 'schedule' ? keyNode : undefined, parameters, wholly);
  if (key === 'hook' && !isMap(value) && !['true', 'false', 'null', undefined].includes(single)) {
    source.problem(value, `"hook" is true or false, not "${single}"`, 'write hook: true');
    return undefined;
  }
  if (key === 'hook') return single === 'false' ? undefined : { kind: 'hook', ...common };
  const needed = single ?? text(key === 'event' ? 'name' : 'cron');
  if (needed === undefined) {
    source.problem(value ?? keyNode, `"${key}" says not ${key === 'event' ? 'which event' : 'when'}`);
    return undefined;
  }
  if (key === 'event') return { kind: 'event', name: needed, ...common };
  const timezone = text('timezone');
  const zone = timezone === undefined || isTimezone(timezone) ? timezone : undefined;
  if (zone !== timezone)
    source.problem(
      fields.get('timezone')?.value ?? keyNode,
      `there is no time zone "${timezone}"`,
      'e.g. Europe/London',
    );
  try {
    return { kind: 'schedule', cron: new Cron(needed, zone), ...common };
  } catch (error) {
    if (!(error instanceof CronError)) throw error;
    source.problem(fields.get('cron')?.value ?? value ?? keyNode, error.message);
    return undefined;
  }
}

/** @param required the node for the message about a missing parameter; undefined: the parameter may come with the start */
function checkArguments(
  source: Source,
  args: Entry | undefined,
  required: Node | undefined,
  parameters: readonly Parameter[],
  instead?: string,
): void {
  const given = isMap(args?.value) ? source.entries(args.value) : [];
  for (const { key, keyNode, value } of given) {
    const parameter = parameters.find(({ name }) => name === key);
    const names = parameters.map(({ name }) => name);
    if (!parameter) source.problem(keyNode, `the scenario has no parameter "${key}"`, suggestName(key, names));
    else if (value !== null) checkArgument(source, value, parameter);
  }
  for (const { name, default: preset } of required ? parameters : [])
    if (!preset && !given.some(({ key }) => key === name))
      source.problem(
        args?.keyNode ?? required ?? null,
        `the parameter "${name}" is not given`,
        instead?.replace('...', `${name}: ...`) ?? `add args: { ${name}: ... }`,
      );
}

function checkArgument(source: Source, node: Node, { name, type, values }: Parameter): void {
  const value = node.toJSON() as Value;
  if (!isOfType(value, type)) source.problem(node, `the parameter "${name}" must be of type ${type}`);
  else if (values && !values.includes(value))
    source.problem(node, `the parameter "${name}" must be one of ${values.map(plainText).join(', ')}`);
}

/** True for the name of a known time zone: `Europe/London`. */
export function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
