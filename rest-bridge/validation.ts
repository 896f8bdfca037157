/** Checks requests by their schemas. */
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { notKnown } from '../runtime/words/index.ts';
import { badParameter } from './errors.ts';

/** Marks the schema of a body that may be left out. */
export const OPTIONAL_BODY = 'x-optional';

const COMMON: Options = {
  useDefaults: true,
  removeAdditional: false,
  allErrors: false,
  verbose: true,
  keywords: [OPTIONAL_BODY],
};

/**
 * Checks requests by their schemas. Bodies are taken as they are: nothing is converted, null stays null. Query and path
 * are text, so numbers and booleans are read from it.
 *
 * A schema is compiled at its first request: all of them together would take a third of a second of each start.
 *
 * Mistakes are answered 400/1400 with `error_details: {field, reason}`.
 */
export function schemaCompiler(): FastifySchemaCompiler<TSchema> {
  const bodies = new Ajv({ ...COMMON, coerceTypes: false });
  const texts = new Ajv({ ...COMMON, coerceTypes: true });
  return ({ schema, httpPart }) => {
    const isBody = httpPart === 'body';
    const ajv = isBody ? bodies : texts;
    let compiled: ValidateFunction | undefined;
    const flags = isBody ? [] : booleanProperties(schema);
    const known =
      isRecord(schema) && schema['additionalProperties'] === false ? Object.keys(propertiesOf(schema)) : undefined;
    const optional = isBody && isRecord(schema) && schema[OPTIONAL_BODY] === true;
    return (data: unknown) => {
      // Fastify passes null for a missing body.
      if (optional && data === null) return { value: data };
      const unknown = unknownName(data, known);
      if (unknown !== undefined) return { error: unknown };
      readFlags(data, flags);
      const validate = (compiled ??= ajv.compile(schema));
      if (validate(data)) {
        const endless = endlessNumber(data);
        return endless === undefined ? { value: data } : { error: badParameter(endless, 'is too large a number') };
      }
      return { error: explain(validate.errors ?? [], httpPart ?? 'request') };
    };
  };
}

/** Checked first: a missing field may be present under a misspelt name. */
function unknownName(data: unknown, known: readonly string[] | undefined): Error | undefined {
  if (known === undefined || !isRecord(data)) return undefined;
  const unknown = Object.keys(data).find((name) => !known.includes(name));
  return unknown === undefined ? undefined : badParameter(unknown, notKnown(unknown, known));
}

/** Names of the properties that are boolean, whose text may be `1`, `0`, empty or in any case. */
function booleanProperties(schema: unknown): readonly string[] {
  if (!isRecord(schema) || !isRecord(schema['properties'])) return [];
  return Object.entries(schema['properties'])
    .filter(([, property]) => isRecord(property) && property['type'] === 'boolean')
    .map(([name]) => name);
}

function readFlags(data: unknown, names: readonly string[]): void {
  if (!isRecord(data)) return;
  for (const name of names) {
    const text = data[name];
    if (typeof text !== 'string') continue;
    const lower = text.toLowerCase();
    if (lower === '1' || lower === 'true' || lower === '') data[name] = true;
    else if (lower === '0' || lower === 'false') data[name] = false;
  }
}

/** The parameter that Ajv has read as an infinite number, such as 1e400. */
function endlessNumber(data: unknown): string | undefined {
  if (!isRecord(data)) return undefined;
  return Object.keys(data).find((name) => data[name] === Infinity || data[name] === -Infinity);
}

/** Ajv lists the errors of each branch of a union before the union's own; the caller needs one sentence. */
function explain(errors: readonly ErrorObject[], part: string): Error {
  const union = errors.find(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  const error = union === undefined ? errors[0] : (withinBranch(errors, union) ?? union);
  if (!error) return badParameter(part, 'is not valid');
  const path = error.instancePath.slice(1).split('/').filter(Boolean);
  const { missingProperty, additionalProperty } = params(error);
  const last = missingProperty ?? additionalProperty;
  const field = [...path, ...(last === undefined ? [] : [last])].join('.') || part;
  return badParameter(field, reason(error, errors));
}

/** The mistake in the only branch of the right type, such as an item of a list; undefined without one. */
function withinBranch(errors: readonly ErrorObject[], union: ErrorObject): ErrorObject | undefined {
  const branches = new Map<string, ErrorObject>();
  for (const error of errors) {
    const isInside = error.instancePath.length > union.instancePath.length;
    if (error === union || (!isInside && ['type', 'const'].includes(error.keyword))) continue;
    const [branch = ''] = error.schemaPath.slice(union.schemaPath.length + 1).split('/');
    if (!branches.has(branch)) branches.set(branch, error);
  }
  return branches.size === 1 ? branches.values().next().value : undefined;
}

function reason(error: ErrorObject, all: readonly ErrorObject[]): string {
  switch (error.keyword) {
    case 'required':
      return 'is missing';
    case 'additionalProperties':
      return notKnown(params(error).additionalProperty ?? '', Object.keys(propertiesOf(error.parentSchema)));
    case 'enum':
      return `must be one of ${list(params(error).allowedValues ?? [])}`;
    case 'anyOf':
    case 'oneOf': {
      const values = all.filter(({ keyword }) => keyword === 'const').map((branch) => params(branch).allowedValue);
      const types = all.filter(({ keyword }) => keyword === 'type').map((branch) => params(branch).type);
      if (values.length > 0) return `must be one of ${list(values)}`;
      return types.length > 0 ? `must be ${types.join(' or ')}` : 'is not valid';
    }
    default:
      return error.message ?? 'is not valid';
  }
}

function propertiesOf(schema: unknown): object {
  return isRecord(schema) && isRecord(schema['properties']) ? schema['properties'] : {};
}

interface AjvParams {
  readonly missingProperty?: string;
  readonly additionalProperty?: string;
  readonly allowedValues?: readonly unknown[];
  readonly allowedValue?: unknown;
  readonly type?: unknown;
}

function params(error: ErrorObject): AjvParams {
  return error.params;
}

function list(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(', ');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
