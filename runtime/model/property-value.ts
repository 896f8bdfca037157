/** Checks property values by type. */
import { checkJson, isFields, isStorable } from './check.ts';
import type { PropertyDefinition } from './class-definition.ts';
import { InvalidFieldError } from './errors.ts';

type Typed = Pick<PropertyDefinition, 'data_type' | 'multi' | 'items'>;

/** True for properties that only the platform writes. */
export function isManaged({ data_type: type }: Pick<PropertyDefinition, 'data_type'>): boolean {
  return type === 'increment' || type === 'attachment';
}

const INT32 = 2 ** 31;

/**
 * The value in its stored form.
 *
 * @throws InvalidFieldError when it does not fit
 */
export function checkValue(property: Typed, value: unknown, field: string): unknown {
  if (!property.multi) return checkOne(property, value, field);
  if (!Array.isArray(value)) throw new InvalidFieldError(field, 'must be an array', value);
  return value.map((item, index) => checkOne(property, item, `${field}.${index}`));
}

function checkOne({ data_type: type, items }: Typed, value: unknown, field: string): unknown {
  switch (type) {
    case 'string':
      if (typeof value !== 'string') throw new InvalidFieldError(field, 'must be a text', value);
      if (!isStorable(value)) throw new InvalidFieldError(field, 'must be valid Unicode without U+0000', value);
      return value;
    case 'boolean':
      if (typeof value !== 'boolean') throw new InvalidFieldError(field, 'must be true or false', value);
      return value;
    case 'integer':
      if (typeof value === 'number' && Number.isInteger(value) && value >= -INT32 && value < INT32) return value;
      throw new InvalidFieldError(field, 'must be an integer from -2147483648 to 2147483647', value);
    case 'long':
    case 'increment':
      // JSON numbers are doubles: inexact beyond 2^53.
      if (Number.isSafeInteger(value)) return value;
      throw new InvalidFieldError(field, 'must be an integer from -(2^53-1) to 2^53-1', value);
    case 'float':
      if (typeof value === 'number' && Number.isFinite(value)) return value;
      throw new InvalidFieldError(field, 'must be a number', value);
    case 'enum':
      if (typeof value === 'string' && items.includes(value)) return value;
      throw new InvalidFieldError(field, `must be one of ${items.join(', ')}`, value);
    case 'any':
      checkJson(value, field);
      return value;
    case 'attachment':
      if (!isFields(value)) throw new InvalidFieldError(field, 'must be metadata of an attachment', value);
      checkJson(value, field);
      return value;
    default:
      return type satisfies never;
  }
}
