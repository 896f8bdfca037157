/** Reads and checks the `properties` of a class. */
import { fieldsOf, flagOf, integerOf, isStorable, onlyKnown } from './check.ts';
import { DATA_TYPES, type DataType, type IndexKind, type PropertyDefinition } from './class-definition.ts';
import { InvalidFieldError } from './errors.ts';
import { checkValue } from './property-value.ts';

const KNOWN = [
  'name',
  'data_type',
  'multi',
  'required',
  'default',
  'items',
  'index',
  'unique',
  'merge_levels',
] as const;
const ALIASES: Readonly<Record<string, DataType>> = { str: 'string', bool: 'boolean', int: 'integer' };
/** Letters of any script; no dot (separates nested keys) and no slash (separates file names). */
const NAME = /^[\p{L}_][\p{L}\p{N}_-]{0,63}$/u;
const MAX_PROPERTIES = 500;
const MAX_ITEMS = 1000;
const MAX_MERGE_LEVELS = 32;

/** @throws InvalidFieldError naming the field, e.g. `properties.2.data_type` */
export function readProperties(input: unknown): readonly PropertyDefinition[] {
  if (!Array.isArray(input)) throw new InvalidFieldError('properties', 'must be an array', input);
  if (input.length > MAX_PROPERTIES) throw new InvalidFieldError('properties', `must be at most ${MAX_PROPERTIES}`);
  return input.map((each, index) => readProperty(each, `properties.${index}`));
}

/** @throws InvalidFieldError for a repeated name or a broken rule across properties */
export function checkTogether(properties: readonly PropertyDefinition[]): void {
  const names = new Set(['id']);
  for (const { name } of properties) {
    if (names.has(name)) throw new InvalidFieldError('properties', `must not have the name ${name} twice`, name);
    names.add(name);
  }
  if (properties.filter(({ data_type }) => data_type === 'increment').length > 1) {
    throw new InvalidFieldError('properties', 'must have at most one increment');
  }
  for (const { name, index } of properties) {
    if (!Array.isArray(index)) continue;
    const missing = index.find((each: string) => !names.has(each));
    if (missing !== undefined) throw new InvalidFieldError(`properties.${name}.index`, `names no property: ${missing}`);
  }
}

function readProperty(input: unknown, field: string): PropertyDefinition {
  const given = fieldsOf(input, field);
  onlyKnown(given, KNOWN, `${field}.`);
  const { name } = given;
  if (typeof name !== 'string' || !NAME.test(name) || name === '__proto__') {
    throw new InvalidFieldError(`${field}.name`, 'must be 1 to 64 letters, digits, _ or -, a letter or _ first', name);
  }
  if (name === 'id') throw new InvalidFieldError(`${field}.name`, 'must not be id: every entity has one', name);
  const type = typeof given['data_type'] === 'string' ? given['data_type'] : '';
  const dataType = ALIASES[type] ?? DATA_TYPES.find((each) => each === type);
  if (dataType === undefined) {
    throw new InvalidFieldError(`${field}.data_type`, `must be one of ${DATA_TYPES.join(', ')}`, given['data_type']);
  }
  const multi = flagOf(given['multi'] ?? false, `${field}.multi`);
  const property: PropertyDefinition = {
    name,
    data_type: dataType,
    multi,
    required: flagOf(given['required'] ?? false, `${field}.required`),
    items: readItems(given['items'], dataType, `${field}.items`),
    index: readIndex(given['index'] ?? false, dataType, multi, `${field}.index`),
    unique: flagOf(given['unique'] ?? false, `${field}.unique`),
    merge_levels: integerOf(given['merge_levels'] ?? 0, `${field}.merge_levels`, 0, MAX_MERGE_LEVELS),
  };
  const isScalar = !multi && dataType !== 'any' && dataType !== 'attachment';
  if (property.unique && !isScalar) throw new InvalidFieldError(`${field}.unique`, 'is for single plain values', true);
  if (multi && dataType === 'increment') throw new InvalidFieldError(`${field}.multi`, 'is not for an increment', true);
  if (property.merge_levels > 0 && (dataType !== 'any' || multi)) {
    throw new InvalidFieldError(`${field}.merge_levels`, 'is for a single value of type any', property.merge_levels);
  }
  const { default: value } = given;
  if (value === undefined || value === null) return property;
  if (dataType === 'increment' || dataType === 'attachment') {
    throw new InvalidFieldError(`${field}.default`, `is not for ${dataType}`, value);
  }
  return { ...property, default: checkValue(property, value, `${field}.default`) };
}

function readItems(input: unknown, dataType: DataType, field: string): readonly string[] {
  if (dataType !== 'enum') {
    if (input === undefined || input === null || (Array.isArray(input) && input.length === 0)) return [];
    throw new InvalidFieldError(field, 'is for an enum', input);
  }
  const isList = Array.isArray(input) && input.length > 0 && input.length <= MAX_ITEMS;
  const isTexts = isList && input.every((item) => typeof item === 'string' && item !== '' && isStorable(item));
  if (isTexts && new Set(input).size === input.length) return input as string[];
  throw new InvalidFieldError(field, `must be an array of 1 to ${MAX_ITEMS} different texts`, input);
}

function readIndex(input: unknown, dataType: DataType, multi: boolean, field: string): IndexKind {
  const isPlain = !multi && dataType !== 'any' && dataType !== 'attachment';
  if (input === false) return false;
  if (input === 'list') {
    if (multi && dataType !== 'any' && dataType !== 'attachment') return input;
    throw new InvalidFieldError(field, 'list is for properties with multi', input);
  }
  if (input === 'wildcard') {
    if (isPlain && (dataType === 'string' || dataType === 'enum')) return input;
    throw new InvalidFieldError(field, 'wildcard is for texts', input);
  }
  const isNames = Array.isArray(input) && input.length > 0 && input.every((each) => typeof each === 'string');
  if (input !== true && !isNames) {
    throw new InvalidFieldError(field, 'must be true, false, "wildcard", "list" or names of properties', input);
  }
  if (!isPlain) throw new InvalidFieldError(field, 'is for single plain values; use "list" with multi', input);
  return input === true ? true : input;
}
