/** Reads the body of LOOKUP. */
import type { PropertyDefinition, ResolvedClass } from './class-definition.ts';
import { BadParameterError, InvalidFieldError } from './errors.ts';
import type { Input } from './fields.ts';
import { checkValue } from './property-value.ts';

/**
 * The keys of LOOKUP: `id` (property undefined) and the class's `lookup_properties`.
 *
 * @throws BadParameterError
 */
export function lookupKeys(
  { allProperties, opts }: ResolvedClass,
  keys: Input,
): readonly { readonly property: PropertyDefinition | undefined; readonly value: unknown }[] {
  const allowed = ['id', ...opts.lookup_properties];
  const entries = Object.entries(keys);
  if (entries.length === 0) throw new BadParameterError('body', `must hold at least one of ${allowed.join(', ')}`);
  return entries.map(([name, value]) => {
    if (!allowed.includes(name)) throw new BadParameterError(name, `is not a lookup key; use ${allowed.join(', ')}`);
    const property = allProperties.find((each) => each.name === name);
    try {
      const typed = property ?? { data_type: 'string' as const, multi: false, items: [] };
      return { property, value: checkValue(typed, value, name) };
    } catch (error) {
      if (error instanceof InvalidFieldError)
        throw new BadParameterError(name, error.reason, undefined, { cause: error });
      throw error;
    }
  });
}
