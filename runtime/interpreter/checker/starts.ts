import { type Node, isMap, isScalar } from 'yaml';
import { suggestName } from '../problem.ts';
import type { Start } from '../program.ts';
import { Cron, CronError } from '../starting/cron.ts';
import type { Value } from '../values.ts';
import { type Entry, type Source, scalarText } from './source.ts';

const KINDS = ['schedule', 'hook', 'event'];
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  schedule: ['cron', 'timezone', 'domain', 'args'],
  hook: ['domain'],
  event: ['name', 'domain', 'args'],
};

/** Reads the section `starts`: what starts the scenario beside a call. */
export function readStarts(source: Source, node: Node | null): Start[] {
  if (node === null || (isScalar(node) && node.value === null)) return [];
  if (!isMap(node)) {
    source.problem(node, 'starts must be a map', 'e.g. starts: { schedule: { cron: "0 9 * * mon-fri" } }');
    return [];
  }
  return source.entries(node).flatMap((entry) => {
    if (KINDS.includes(entry.key)) return readStart(source, entry) ?? [];
    source.problem(entry.keyNode, `nothing starts by "${entry.key}"`, suggestName(entry.key, KINDS));
    return [];
  });
}

function readStart(source: Source, { key, keyNode, value }: Entry): Start | undefined {
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
  if (key === 'hook') return single === 'false' ? undefined : { kind: 'hook', ...common };
  const needed = single ?? text(key === 'event' ? 'name' : 'cron');
  if (needed === undefined) {
    source.problem(value ?? keyNode, `"${key}" says not ${key === 'event' ? 'which event' : 'when'}`);
    return undefined;
  }
  if (key === 'event') return { kind: 'event', name: needed, ...common };
  try {
    return { kind: 'schedule', cron: new Cron(needed, text('timezone')), ...common };
  } catch (error) {
    if (!(error instanceof CronError)) throw error;
    source.problem(fields.get('cron')?.value ?? value ?? keyNode, error.message);
    return undefined;
  }
}
