/** Which fields of a resource are answered, and in which form: the query parameters `mask` and `flat`. */

type Fields = Readonly<Record<string, unknown>>;

/** A mask as a tree: `a,b.c` is a (whole) and, of b, c. */
interface MaskNode {
  /** Undefined: the field is wanted whole. */
  readonly keys: Map<string, MaskNode> | undefined;
}

export interface ShapeOptions {
  /** Comma-separated names; composite fields whole or by dotted nested key. Absent or empty: all. */
  readonly mask?: string;
  /** Nested objects become first-level dotted keys. */
  readonly flat?: boolean;
}

/**
 * Makes the function that shapes resources of one type.
 *
 * @param fields the names that exist, in the order in which they are answered; other names in the mask are ignored
 * @param aliases other names for them
 */
export function shaper(
  fields: readonly string[],
  aliases: Readonly<Record<string, string>>,
  { mask, flat }: ShapeOptions,
): (resource: object) => Fields {
  const tree = mask ? parseMask(mask, aliases) : undefined;
  const wanted = tree ? fields.filter((field) => tree.has(field)) : fields;
  return (resource) => {
    const source = new Map(Object.entries(resource));
    const result: Record<string, unknown> = {};
    for (const field of wanted) {
      const value: unknown = source.get(field);
      if (value === undefined) continue;
      const picked = tree ? pick(value, tree.get(field)) : value;
      if (picked !== undefined) result[field] = picked;
    }
    return flat ? flatten(result) : result;
  };
}

function parseMask(mask: string, aliases: Readonly<Record<string, string>>): Map<string, MaskNode> {
  const root = new Map<string, MaskNode>();
  for (const entry of mask.split(',')) {
    const path = entry.trim().split('.');
    const first = path[0] ?? '';
    path[0] = Object.hasOwn(aliases, first) ? (aliases[first] ?? first) : first;
    let keys: Map<string, MaskNode> | undefined = root;
    path.forEach((name, index) => {
      const node: MaskNode | undefined = keys?.get(name);
      // A field that is wanted whole stays so: `opts,opts.replaces` is opts.
      if (index === path.length - 1) keys?.set(name, { keys: undefined });
      else if (!node) keys?.set(name, { keys: new Map() });
      keys = keys?.get(name)?.keys;
    });
  }
  return root;
}

/** @returns undefined when nothing of the value is wanted or there */
function pick(value: unknown, node: MaskNode | undefined): unknown {
  if (!node) return undefined;
  const { keys } = node;
  if (!keys) return value;
  if (Array.isArray(value)) {
    // A nested key of a list of objects is that key of each of them.
    const items = value.map((item) => pick(item, node)).filter((item) => item !== undefined);
    return items.length > 0 ? items : undefined;
  }
  if (!isFields(value)) return undefined;
  const entries = Object.entries(value)
    .map(([key, item]) => [key, pick(item, keys.get(key))] as const)
    .filter(([, item]) => item !== undefined);
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

/** `{opts: {a: 1}}` becomes `{"opts.a": 1}`; lists stay as they are. */
export function flatten(resource: Fields): Fields {
  const result: Record<string, unknown> = {};
  const walk = (fields: Fields, prefix: string) => {
    for (const [key, value] of Object.entries(fields)) {
      if (isFields(value)) walk(value, `${prefix}${key}.`);
      else result[prefix + key] = value;
    }
  };
  walk(resource, '');
  return result;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
