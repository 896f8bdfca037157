/** JSON data between a script and its host: copied, never shared. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** Largest nesting depth: deeper values would overflow the stack of recursive code. */
export const MAX_DEPTH = 100;

/** Invalid JSON, or data that must not cross. */
export class NotPlainError extends Error {
  override readonly name = 'NotPlainError';
}

/**
 * Parses JSON from a script.
 * @throws NotPlainError for invalid JSON, excessive nesting, or a key `__proto__`
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
 * Writes a value for a script as JSON; undefined becomes null.
 * @throws NotPlainError for cycles, bigints, and more than `maxLength` characters
 */
export function stringifyPlain(value: unknown, maxLength: number): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value ?? null);
  } catch (error) {
    throw new NotPlainError(error instanceof Error ? error.message : String(error), { cause: error });
  }
  // Functions and symbols have no JSON form.
  if (text === undefined) throw new NotPlainError(`a ${typeof value} cannot cross`);
  if (text.length > maxLength) throw new NotPlainError(`${text.length} characters are more than ${maxLength}`);
  return text;
}
