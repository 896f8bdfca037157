/** Checks of single settings; each error names the field. */
import { nearest, notKnown } from '../words/index.ts';
import { InvalidFieldError } from './errors.ts';

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function fieldsOf(value: unknown, field: string): Fields {
  if (isFields(value)) return value;
  throw new InvalidFieldError(field, 'must be an object', value);
}

export function onlyKnown(value: Fields, known: readonly string[], prefix: string): void {
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const meant = nearest(unknown, known);
  const reason = meant === undefined ? `is not known; use ${known.join(', ')}` : notKnown(unknown, known);
  throw new InvalidFieldError(`${prefix}${unknown}`, reason, value[unknown]);
}

export function textOf(value: unknown, field: string, maxLength: number): string {
  const isText = typeof value === 'string' && value.length <= maxLength && isStorable(value);
  if (isText) return value;
  throw new InvalidFieldError(field, `must be a text of at most ${maxLength} characters`, value);
}

export function flagOf(value: unknown, field: string): boolean {
  if (typeof value === 'boolean') return value;
  throw new InvalidFieldError(field, 'must be true or false', value);
}

export function integerOf(value: unknown, field: string, min: number, max: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new InvalidFieldError(field, `must be an integer from ${min} to ${max}`, value);
}

export function oneOf<T extends string>(value: unknown, field: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  throw new InvalidFieldError(field, `must be one of ${choices.join(', ')}`, value);
}

/** PostgreSQL's `text` and `jsonb` hold no U+0000 and no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

const MAX_DEPTH = 100;

/** Checks all texts and the depth of a JSON value. */
export function checkJson(value: unknown, field: string, depth = 0): void {
  if (depth > MAX_DEPTH) throw new InvalidFieldError(field, `nests more than ${MAX_DEPTH} deep`);
  if (typeof value === 'string' && !isStorable(value)) {
    throw new InvalidFieldError(field, 'must be valid Unicode without U+0000', value);
  }
  if (typeof value === 'number' && !Number.isFinite(value)) throw new InvalidFieldError(field, 'must be finite', value);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    if (!isStorable(key)) throw new InvalidFieldError(field, 'has a key that is no valid Unicode without U+0000');
    checkJson(item, field, depth + 1);
  }
}
