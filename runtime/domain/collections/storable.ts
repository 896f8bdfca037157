/** Checks that values can be stored. */
import { InvalidFieldError } from '../errors.ts';
import type { Input } from './definition.ts';

/** Largest nesting depth within a field. */
const MAX_DEPTH = 32;

/**
 * Refuses values that PostgreSQL's text and jsonb cannot hold (NUL, halves of surrogate pairs), and excessive nesting.
 *
 * @throws InvalidFieldError naming the field with dots
 */
export function refuseUnstorable(entity: string, input: Input): void {
  const refuse = (path: readonly string[], reason: string): never => {
    throw new InvalidFieldError(entity, path.join('.'), reason);
  };
  const checkText = (text: string, path: readonly string[]): void => {
    if (text.includes('\0') || !text.isWellFormed()) refuse(path, 'must be valid Unicode without U+0000');
  };
  const check = (value: unknown, path: readonly string[]): void => {
    if (typeof value === 'string') checkText(value, path);
    else if (typeof value === 'number' && !Number.isFinite(value)) refuse(path, 'must be a finite number');
    else if (typeof value === 'object' && value !== null) {
      if (path.length > MAX_DEPTH) refuse(path.slice(0, 1), `is nested deeper than ${MAX_DEPTH} levels`);
      for (const [key, item] of Object.entries(value)) {
        checkText(key, path);
        check(item, [...path, key]);
      }
    }
  };
  for (const [field, value] of Object.entries(input)) check(value, [field]);
}
