/** The mistake in an entity that its schema refuses, as one field and one sentence. */
import type { ErrorObject } from 'ajv';
import { notKnown } from '../../words/index.ts';

/** Where the mistake is (names with dots between them, empty for the entity itself), and what is wrong there. */
export interface Mistake {
  readonly field: string;
  readonly reason: string;
}

/**
 * The first mistake.
 *
 * @param errors What Ajv reports with `verbose`. It lists the errors of every branch of a union before the union's own.
 */
export function firstMistake(errors: readonly ErrorObject[]): Mistake {
  const [first] = errors;
  if (first === undefined) return { field: '', reason: 'is not valid' };
  // Ajv stops at the first mistake, so a union in the list is what the entity breaks; the last one is the outermost.
  const union = errors.findLast(({ keyword }) => keyword === 'anyOf');
  return union === undefined ? mistakeOf(first) : inUnion(union, errors);
}

function inUnion(union: ErrorObject, errors: readonly ErrorObject[]): Mistake {
  const branches = (union.parentSchema?.['anyOf'] ?? []) as readonly Branch[];
  if (branches.every((branch) => 'const' in branch))
    return { field: fieldOf(union), reason: oneOf(branches.map(({ const: value }) => value)) };
  const kinds = branches.map(({ properties }) => properties?.['type']?.const);
  const data: unknown = union.data;
  if (kinds.every((kind) => kind !== undefined) && typeof data === 'object' && data !== null)
    return amongKinds(union, errors, kinds, 'type' in data ? data.type : undefined);
  // The branch of the value's type has a further mistake; without such a branch, the type is the mistake.
  const within = errors.find((error) => error !== union && error.keyword !== 'type');
  if (within !== undefined) return mistakeOf(within);
  const types = branches.flatMap(({ type }) => type ?? []);
  return { field: fieldOf(union), reason: `must be ${[...new Set(types)].join(' or ')}` };
}

/** Of objects that a `type` tells apart, such as the targets of routes. */
function amongKinds(
  union: ErrorObject,
  errors: readonly ErrorObject[],
  kinds: readonly unknown[],
  kind: unknown,
): Mistake {
  const field = `${fieldOf(union)}.type`;
  if (kind === undefined) return { field, reason: 'is required' };
  const chosen = kinds.indexOf(kind);
  if (chosen < 0) return { field, reason: oneOf(kinds) };
  return mistakeOf(errors.find(({ schemaPath }) => schemaPath.startsWith(`${union.schemaPath}/${chosen}/`)) ?? union);
}

interface Branch {
  readonly const?: unknown;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, { readonly const?: unknown }>>;
}

function oneOf(values: readonly unknown[]): string {
  return `must be one of ${values.map((value) => JSON.stringify(value)).join(', ')}`;
}

function mistakeOf(error: ErrorObject): Mistake {
  return { field: fieldOf(error), reason: reasonOf(error) };
}

function fieldOf(error: ErrorObject): string {
  const path = error.instancePath.split('/').slice(1);
  const { missingProperty, additionalProperty } = error.params as Record<string, unknown>;
  for (const name of [missingProperty, additionalProperty]) if (typeof name === 'string') path.push(name);
  return path.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')).join('.');
}

function reasonOf(error: ErrorObject): string {
  if (error.keyword === 'required') return 'is required';
  const { additionalProperty, allowedValue, allowedValues } = error.params as Record<string, unknown>;
  if (typeof additionalProperty === 'string') {
    const properties: object = (error.parentSchema?.['properties'] as object | undefined) ?? {};
    return notKnown(additionalProperty, Object.keys(properties));
  }
  if (error.keyword === 'const') return `must be ${JSON.stringify(allowedValue)}`;
  if (error.keyword === 'enum' && Array.isArray(allowedValues)) return oneOf(allowedValues);
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
