/** What may cross between a script and its host: JSON data, copied, never shared. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** Levels of lists and objects in one value: deeper ones would overflow the stack of code that walks them. */
export const MAX_DEPTH = 100;

/** Text that is not JSON, or data that may not cross. */
export class NotPlainError extends Error {
  override readonly name = 'NotPlainError';
}

/**
 * Parses JSON that came from a script.
 * @throws NotPlainError when it is no JSON, nested too deeply, or has a key `__proto__`
 */
export function parsePlain(text: string): Json {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw new NotPlainError('not JSON', { cause: error });
  }
  checkPlain(value, 0);
  return value;
}

function checkPlain(value: Json, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_DEPTH) throw new NotPlainError(`nested more than ${MAX_DEPTH} levels deep`);
  if (Object.hasOwn(value, '__proto__')) throw new NotPlainError('a key must not be __proto__');
  const items: readonly Json[] = Array.isArray(value) ? (value as readonly Json[]) : Object.values(value);
  for (const item of items) if (typeof item === 'object') checkPlain(item, depth + 1);
}

/**
 * JSON of a value that goes to a script; undefined counts as null.
 * @throws NotPlainError for cycles, bigints, and more than `maxLength` characters
 */
export function stringifyPlain(value: unknown, maxLength: number): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value ?? null);
  } catch (error) {
    throw new NotPlainError(error instanceof Error ? error.message : String(error), { cause: error });
  }
  // Functions and symbols have no JSON.
  if (text === undefined) throw new NotPlainError(`a ${typeof value} cannot cross`);
  if (text.length > maxLength) throw new NotPlainError(`${text.length} characters are more than ${maxLength}`);
  return text;
}
