/** Which fields of a resource are answered, and in which form: the query parameters `mask` and `flat`. */
import { applyMask, flatten, type Mask, parseMask } from '../../runtime/model/index.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface ShapeOptions {
  /** Comma-separated names; composite fields whole or by dotted nested key. Absent or empty: all. */
  readonly mask?: string;
  /** Nested objects become first-level dotted keys. */
  readonly flat?: boolean;
}

export interface Shaped {
  /** The names that exist, in the order in which they are answered; other names in the mask are ignored. */
  readonly fields: readonly string[];
  /** Of these, the ones that are answered only where the mask names them. */
  readonly masked?: readonly string[];
  /** Other names for fields. */
  readonly aliases: Readonly<Record<string, string>>;
}

/** Makes the function that shapes resources of one type. */
export function shaper(
  { fields: all, masked, aliases }: Shaped,
  { mask: text, flat }: ShapeOptions,
): (resource: object) => Fields {
  const mask = named(parseMask(text), aliases);
  const fields = mask === undefined && masked !== undefined ? all.filter((name) => !masked.includes(name)) : all;
  return (resource) => {
    const source = resource as Fields;
    // Nothing to leave out: most items of most lists.
    if (mask === undefined && flat !== true && hasJust(source, fields)) return source;
    const known: Record<string, unknown> = {};
    for (const name of fields) {
      const value = Object.hasOwn(source, name) ? source[name] : undefined;
      if (value !== undefined) known[name] = value;
    }
    const shaped = applyMask(known, mask);
    return flat ? flatten(shaped) : shaped;
  };
}

/** True for a resource with these fields in this order, and no others. */
function hasJust(resource: Fields, fields: readonly string[]): boolean {
  const names = Object.keys(resource);
  return names.length === fields.length && names.every((name, at) => name === fields[at]);
}

/** The same mask by the fields' own names. */
function named(mask: Mask | undefined, aliases: Readonly<Record<string, string>>): Mask | undefined {
  if (mask === undefined || ![...mask.keys()].some((name) => Object.hasOwn(aliases, name))) return mask;
  const result = new Map<string, Mask | undefined>();
  for (const [name, keys] of mask) {
    const field = Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : name;
    const known = result.get(field);
    // A composite requested whole under any of its names stays whole.
    const isWhole = keys === undefined || (result.has(field) && known === undefined);
    result.set(field, isWhole ? undefined : new Map([...(known ?? []), ...keys]));
  }
  return result;
}
