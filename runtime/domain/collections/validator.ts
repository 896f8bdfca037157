/** Validates an entity against its schema; the error names the field. */
import { Ajv, type ValidateFunction } from 'ajv';
import { notKnown } from '../../words/index.ts';
import { InvalidFieldError } from '../errors.ts';
import type { CollectionDefinition, Input } from './definition.ts';
import { firstMistake } from './mistakes.ts';

const ajv = new Ajv({ strict: true, coerceTypes: false, useDefaults: false, removeAdditional: false, verbose: true });

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
    const { field, reason } = firstMistake(validate.errors ?? []);
    const secret = definition.writeOnly.includes(field);
    throw new InvalidFieldError(definition.entity, field, reason, secret ? undefined : valueAt(entity, field));
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
