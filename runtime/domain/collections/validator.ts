/** Validates an entity against its schema; the error names the field. */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { notKnown } from '../../words/index.ts';
import { InvalidFieldError } from '../errors.ts';
import type { CollectionDefinition, Input } from './definition.ts';

const ajv = new Ajv({ strict: true, coerceTypes: false, useDefaults: false, removeAdditional: false, verbose: true });

function fieldOf(error: ErrorObject): string {
  const path = error.instancePath.split('/').slice(1);
  const { missingProperty, additionalProperty } = error.params as Record<string, unknown>;
  for (const name of [missingProperty, additionalProperty]) if (typeof name === 'string') path.push(name);
  return path.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')).join('.');
}

function reasonOf(error: ErrorObject): string {
  if (error.keyword === 'required') return 'is required';
  const { additionalProperty } = error.params as Record<string, unknown>;
  if (typeof additionalProperty === 'string') {
    const properties: object = (error.parentSchema?.['properties'] as object | undefined) ?? {};
    return notKnown(additionalProperty, Object.keys(properties));
  }
  const description: unknown = error.parentSchema?.['description'];
  if (error.keyword === 'pattern' && typeof description === 'string') return `must be ${description}`;
  if (error.keyword in BOUNDS) return `must be ${rangeOf(error.parentSchema)}, not ${String(error.data)}`;
  return error.message ?? `breaks the rule ${error.keyword}`;
}

/** Minimum and maximum of a number, in the order of the message. */
const BOUNDS: Readonly<Record<string, string>> = {
  exclusiveMinimum: 'above',
  minimum: 'at least',
  exclusiveMaximum: 'below',
  maximum: 'at most',
};

function rangeOf(schema: ErrorObject['parentSchema']): string {
  return Object.entries(BOUNDS)
    .flatMap(([keyword, words]) => (schema?.[keyword] === undefined ? [] : `${words} ${schema[keyword]}`))
    .join(' and ');
}

/** The validator of a collection, compiled at its first use; it throws InvalidFieldError. */
export function entityValidator(
  definition: Pick<CollectionDefinition, 'entity' | 'schema' | 'writeOnly'>,
): (entity: Input) => void {
  let compiled: ValidateFunction | undefined;
  const known = Object.keys(definition.schema.properties);
  return (entity) => {
    // Unknown fields are reported before missing ones: the unknown one may be a misspelling.
    const unknown = Object.keys(entity).find((name) => !known.includes(name));
    if (unknown !== undefined) throw new InvalidFieldError(definition.entity, unknown, notKnown(unknown, known));
    const validate = (compiled ??= ajv.compile({ ...definition.schema, additionalProperties: false }));
    if (validate(entity)) return;
    const error = validate.errors?.[0];
    if (error === undefined) throw new InvalidFieldError(definition.entity, '', 'is not valid');
    const field = fieldOf(error);
    const secret = definition.writeOnly.includes(field);
    throw new InvalidFieldError(definition.entity, field, reasonOf(error), secret ? undefined : valueAt(entity, field));
  };
}

function valueAt(entity: Input, field: string): unknown {
  let value: unknown = entity;
  for (const part of field.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Object.getOwnPropertyDescriptor(value, part)?.value;
  }
  return value;
}
