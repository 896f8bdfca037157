/** Makes entities from input: defaults, checks, and the merge of PATCH. */
import { randomUUID } from 'node:crypto';
import { type AttachmentInfo, withFiles } from './attachments/info.ts';
import { isFields, isStorable } from './check.ts';
import type { PropertyDefinition, ResolvedClass } from './class-definition.ts';
import { isPartitioned } from './class-settings.ts';
import { notKnown } from '../words/index.ts';
import { InvalidFieldError } from './errors.ts';
import { parseTime } from './filter/time.ts';
import { isEqual } from './filter/values.ts';
import type { KeptFiles } from './attachments/info.ts';
import type { Entity, Input } from './fields.ts';
import { checkValue, isManaged } from './property-value.ts';
import { timeProperty } from './resolve-class.ts';

const MAX_ID = 256;

/** @throws InvalidFieldError */
export function checkId(id: unknown): string {
  const isId = typeof id === 'string' && id.length > 0 && id.length <= MAX_ID && isStorable(id);
  if (!isId) throw new InvalidFieldError('id', `must be a text of 1 to ${MAX_ID} characters`, id);
  // Clients remove these from paths (RFC 3986 section 5.2.4).
  if (id === '.' || id === '..') throw new InvalidFieldError('id', 'must not be . or ..', id);
  // In REST paths these characters end an id.
  if (/[/!?#\p{Cc}]/u.test(id)) throw new InvalidFieldError('id', 'must not hold / ! ? # or control characters', id);
  return id;
}

/** Own properties only: a property may be called `constructor`. */
function ownField(input: Input, name: string): unknown {
  return Object.hasOwn(input, name) ? input[name] : undefined;
}

export interface MakeOptions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The input contains platform values: attachment metadata and increments. */
  readonly attachments?: boolean | undefined;
  /** Files uploaded with the entity. */
  readonly files?: KeptFiles | undefined;
}

/** A new entity, or the full replacement of one: absent properties get their default. */
export function makeEntity(
  definition: ResolvedClass,
  input: Input,
  before: Entity | undefined,
  options: MakeOptions,
): Entity {
  const entity: Record<string, unknown> = { id: before?.id ?? checkId(input['id'] ?? randomUUID()) };
  checkFields(definition, input, before);
  for (const property of definition.allProperties) {
    const given = ownField(input, property.name);
    const kept = options.files?.get(property.name);
    entity[property.name] = isManaged(property)
      ? withKept(property, managed(property, given, before, options), kept)
      : given === undefined
        ? implied(definition, property, before, options.now)
        : checked(definition, property, given);
  }
  checkRequired(definition, entity);
  return entity as Entity;
}

/** The entity after PATCH. */
export function patchEntity(
  definition: ResolvedClass,
  before: Entity,
  input: Input,
  options: MakeOptions & { readonly append?: boolean | undefined },
): Entity {
  checkFields(definition, input, before);
  const entity: Record<string, unknown> = { ...before };
  for (const property of definition.allProperties) {
    const { name } = property;
    const given = ownField(input, name);
    if (given === undefined) continue;
    if (isManaged(property)) {
      entity[name] = managed(property, given, before, options);
      continue;
    }
    const value = checked(definition, property, given);
    entity[name] = value === null ? null : merged(property, before[name], value, options.append === true);
  }
  checkRequired(definition, entity);
  return entity as Entity;
}

function merged(property: PropertyDefinition, before: unknown, value: unknown, append: boolean): unknown {
  if (append && property.multi && Array.isArray(value)) {
    return Array.isArray(before) ? [...(before as unknown[]), ...(value as unknown[])] : value;
  }
  return mergeLevels(before, value, property.merge_levels);
}

/** Merges objects key by key to a depth of `levels`; deeper values replace. Null removes a key. */
function mergeLevels(before: unknown, given: unknown, levels: number): unknown {
  if (levels === 0 || !isFields(before) || !isFields(given)) return given;
  const result = new Map(Object.entries(before));
  for (const [key, value] of Object.entries(given)) {
    if (value === null) result.delete(key);
    else result.set(key, mergeLevels(result.get(key), value, levels - 1));
  }
  return Object.fromEntries(result);
}

function checkFields({ allProperties }: ResolvedClass, input: Input, before: Entity | undefined): void {
  if (before !== undefined && input['id'] !== undefined && input['id'] !== before.id) {
    throw new InvalidFieldError('id', 'cannot be changed', input['id']);
  }
  const names = new Set(['id', ...allProperties.map(({ name }) => name)]);
  const unknown = Object.keys(input).find((key) => !names.has(key));
  if (unknown !== undefined) throw new InvalidFieldError(unknown, notKnown(unknown, names), input[unknown]);
}

function checked(definition: ResolvedClass, property: PropertyDefinition, given: unknown): unknown {
  const isTime = isPartitioned(definition.storage_mode) && property.name === timeProperty(definition);
  if (isTime && given === null) {
    throw new InvalidFieldError(property.name, 'cannot be cleared: the data are partitioned by it');
  }
  if (given === null) return null;
  const value = isTime && typeof given === 'string' ? parseTime(given) : given;
  return checkValue(property, value, property.name);
}

/**
 * The partition time in the input; undefined when absent.
 *
 * @throws InvalidFieldError
 */
export function givenTime(definition: ResolvedClass, input: Input): unknown {
  const name = timeProperty(definition);
  const property = definition.allProperties.find((each) => each.name === name);
  const given = ownField(input, name);
  if (property === undefined || given === undefined) return undefined;
  return checked(definition, property, given);
}

/** The value of an absent property. */
function implied(
  definition: ResolvedClass,
  { name, default: value = null }: PropertyDefinition,
  before: Entity | undefined,
  now: number,
): unknown {
  const isTime = isPartitioned(definition.storage_mode) && name === timeProperty(definition);
  return isTime ? (before?.[name] ?? value ?? now) : value;
}

/** Refuses new values for increments and attachments, which the platform writes. Unchanged values are accepted. */
function managed(
  property: PropertyDefinition,
  given: unknown,
  before: Entity | undefined,
  { attachments = false }: MakeOptions,
): unknown {
  const { name } = property;
  const present = before?.[name] ?? null;
  if (given === undefined || isEqual(given, present)) return present;
  if (attachments && given !== null) return checkValue(property, given, name);
  if (property.data_type === 'attachment') {
    if (given === null) return null;
    throw new InvalidFieldError(name, `is an attachment: upload it to the path of the entity, /${name}`, given);
  }
  throw new InvalidFieldError(name, 'is numbered by the platform', given);
}

function withKept(property: PropertyDefinition, value: unknown, kept: readonly AttachmentInfo[] | undefined): unknown {
  return kept === undefined ? value : withFiles(property, value, kept);
}

function checkRequired({ allProperties }: ResolvedClass, entity: Readonly<Record<string, unknown>>): void {
  const missing = allProperties.find(
    (property) => property.required && !isManaged(property) && (entity[property.name] ?? null) === null,
  );
  if (missing !== undefined) throw new InvalidFieldError(missing.name, 'is required');
}
