/**
 * Values of the scenario language: JSON data, and their form inside CEL, where an integer is a bigint and a map may be
 * a `Map`.
 */

export type Value = string | number | boolean | null | readonly Value[] | { readonly [key: string]: Value };

/** Types a parameter, a variable or a result field can be declared with. */
export const VALUE_TYPES = ['string', 'integer', 'number', 'boolean', 'list', 'object', 'any'] as const;
export type ValueType = (typeof VALUE_TYPES)[number];

/** The CEL type of each of our types. */
export const CEL_TYPES: Readonly<Record<ValueType, string>> = {
  string: 'string',
  integer: 'int',
  number: 'double',
  boolean: 'bool',
  list: 'list<dyn>',
  object: 'map<string, dyn>',
  any: 'dyn',
};

/** Initial values of variables, by type. */
export const ZERO_VALUES: Readonly<Record<ValueType, Value>> = {
  string: '',
  integer: 0,
  number: 0,
  boolean: false,
  list: [],
  object: {},
  any: null,
};

/** Limits of one value: the longest text, and the total of items and characters. They protect the process's memory. */
const MAX_STRING_LENGTH = 16_384;
const MAX_VALUE_SIZE = 65_536;

/** A value that no variable can hold: too large, or of an unsupported kind. */
export class ValueError extends Error {
  override readonly name = 'ValueError';
}

/** The type of a literal; `null` fits any type. */
export function typeOfValue(value: Value): ValueType {
  if (value === null) return 'any';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return 'object';
}

/** A value as part of a text: empty for null, JSON for lists and maps. */
export function plainText(value: Value): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** True when a value fits a type. */
export function isOfType(value: Value, type: ValueType): boolean {
  if (type === 'any') return true;
  const actual = typeOfValue(value);
  return actual === type || (type === 'number' && actual === 'integer');
}

/** The CEL form of a value. */
export function toCel(value: Value, type: ValueType): unknown {
  if (typeof value === 'number') return type !== 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item: Value) => toCel(item, 'any'));
  return new Map(Object.entries(value).map(([key, item]) => [key, toCel(item, 'any')]));
}

/**
 * The plain value of a CEL result.
 * @throws ValueError for integers beyond 2^53, infinite numbers, too large values, and CEL types without a plain form.
 */
export function fromCel(result: unknown): Value {
  return convert(result, { size: 0, most: MAX_VALUE_SIZE, longest: MAX_STRING_LENGTH });
}

/** The plain form of a variable or parameter, of any size: its value may not come from an expression. */
export function heldValue(held: unknown): Value {
  return convert(held, { size: 0, most: Number.POSITIVE_INFINITY, longest: Number.POSITIVE_INFINITY });
}

/** The size of a value so far, with its limit. */
interface Size {
  size: number;
  readonly most: number;
  readonly longest: number;
}

function convert(result: unknown, total: Size): Value {
  spend(total, 1);
  if (typeof result === 'number') return finite(result);
  if (typeof result === 'boolean') return result;
  if (typeof result === 'bigint') return fromBigInt(result);
  if (typeof result === 'string') return fromString(result, total);
  if (result === null) return null;
  if (typeof result === 'object') return fromObject(result, total);
  throw new ValueError(`a ${typeof result} cannot be a value`);
}

function fromString(result: string, total: Size): string {
  if (result.length > total.longest) throw new ValueError(`a text of ${result.length} characters is too long`);
  spend(total, result.length);
  return result;
}

/** JSON has only finite numbers. */
function finite(result: number): number {
  if (!Number.isFinite(result)) throw new ValueError('the result is no finite number: division by 0, or too large');
  return result;
}

function fromBigInt(result: bigint): number {
  const number = Number(result);
  if (!Number.isSafeInteger(number)) throw new ValueError(`the integer ${result} is too large`);
  return number;
}

function fromObject(result: object, total: Size): Value {
  if (Array.isArray(result)) return result.map((item: unknown) => convert(item, total));
  if (result instanceof Date) return result.toISOString();
  if (result instanceof Map) return fromEntries(result, total);
  if (Object.getPrototypeOf(result) === Object.prototype) return fromEntries(Object.entries(result), total);
  throw new ValueError(`a ${result.constructor.name} cannot be a value; convert it with string(...) or int(...)`);
}

function fromEntries(entries: Iterable<readonly [unknown, unknown]>, total: Size): Value {
  const plain: Record<string, Value> = {};
  for (const [key, item] of entries) {
    const name = String(key);
    if (name === '__proto__') throw new ValueError('a map cannot have the key __proto__');
    plain[name] = convert(item, total);
  }
  return plain;
}

function spend(total: Size, amount: number): void {
  total.size += amount;
  if (total.size > total.most) throw new ValueError('the value is too large');
}
