import { InvalidFieldError } from '../errors.ts';
import type { Input } from './definition.ts';

/** Levels of objects and lists within a field. */
const MAX_DEPTH = 32;

/**
 * Refuses what PostgreSQL's text and jsonb cannot hold: NUL, and halves of surrogate pairs; and what is nested deeper
 * than anybody reads.
 *
 * @throws InvalidFieldError naming the field with dots
 */
export function refuseUnstorable(entity: string, input: Input): void {
  const refuse = (path: readonly string[], reason: string): never => {
    throw new InvalidFieldError(entity, path.join('.'), reason);
  };
  const checkText = (text: string, path: readonly string[]): void => {
    if (text.includes('\0') || !text.isWellFormed()) refuse(path, 'has characters that are no text (NUL, half a pair)');
  };
  const check = (value: unknown, path: readonly string[]): void => {
    if (typeof value === 'string') checkText(value, path);
    else if (typeof value === 'number' && !Number.isFinite(value)) refuse(path, 'is a number beyond all bounds');
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
