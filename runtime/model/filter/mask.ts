/** Selects fields of responses: the parameters `mask` and `flat`, and the class option `max_mask`. */
import { isObject } from './values.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A mask by name: `a,b.c` is `a` (undefined: the whole field) and `b` with `c` (whole). */
export type Mask = ReadonlyMap<string, Mask | undefined>;

/**
 * @param wholes names that are not split at dots
 * @returns undefined for an empty mask: all fields
 */
export function parseMask(text: string | undefined, wholes?: ReadonlySet<string>): Mask | undefined {
  if (text === undefined || text === '') return undefined;
  const names = text.split(',').map((name) => name.trim());
  const root = new Map<string, Mask | undefined>();
  for (const name of names) if (name !== '') add(root, wholes?.has(name) === true ? [name] : name.split('.'));
  return root.size === 0 ? undefined : root;
}

function add(mask: Map<string, Mask | undefined>, [first = '', ...rest]: readonly string[]): void {
  const known = mask.get(first);
  // A whole field stays whole: `opts,opts.replaces` is `opts`.
  if (mask.has(first) && known === undefined) return;
  if (rest.length === 0) {
    mask.set(first, undefined);
    return;
  }
  const keys = new Map(known);
  add(keys, rest);
  mask.set(first, keys);
}

/** The intersection of both masks. */
export function intersect(a: Mask | undefined, b: Mask | undefined): Mask | undefined {
  if (a === undefined) return b;
  if (b === undefined) return a;
  const both = new Map<string, Mask | undefined>();
  for (const [name, keys] of a) if (b.has(name)) both.set(name, intersect(keys, b.get(name)));
  return both;
}

/** The selected part of an entity; a nested key of a list of objects is that key of each object. */
export function applyMask(fields: Fields, mask: Mask | undefined): Fields {
  if (mask === undefined) return fields;
  const picked = pick(fields, mask);
  return isObject(picked) ? picked : {};
}

function pick(value: unknown, mask: Mask | undefined): unknown {
  if (mask === undefined) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => pick(item, mask)).filter((item) => item !== undefined);
    return items.length > 0 ? items : undefined;
  }
  if (!isObject(value)) return undefined;
  const entries = Object.entries(value)
    .filter(([key]) => mask.has(key))
    .map(([key, item]) => [key, pick(item, mask.get(key))] as const)
    .filter(([, item]) => item !== undefined);
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

/** `{opts: {a: 1}}` becomes `{"opts.a": 1}`; lists stay, and empty objects are dropped. */
export function flatten(fields: Fields): Fields {
  const entries: [string, unknown][] = [];
  const walk = (part: Fields, prefix: string): void => {
    for (const [key, value] of Object.entries(part)) {
      if (isObject(value)) walk(value, `${prefix}${key}.`);
      else entries.push([prefix + key, value]);
    }
  };
  walk(fields, '');
  return Object.fromEntries(entries);
}
