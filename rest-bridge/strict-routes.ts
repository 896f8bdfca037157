/** Refuses unknown query parameters and body fields: without a misspelt filter, a request would apply to everything. */
import type { RouteOptions } from 'fastify';
import { type TSchema, Type } from 'typebox';
import type { App } from './app.ts';
import { OPTIONAL_BODY } from './validation.ts';

const NO_QUERY = Type.Object({});
/** Body schema of methods without a body: an empty object counts as none. */
const NO_FIELDS = Type.Object({}, { [OPTIONAL_BODY]: true });

const closedSchemas = new WeakMap<object, TSchema>();

/** Schema of bodies at routes without a body. */
export const NO_BODY = closed(NO_FIELDS);

/**
 * Closes the schemas of the routes added to `app` from now on: unknown fields are answered with 400/1400. An object schema
 * with `additionalProperties: true` stays open. Register this before any reader of the routes' schemas.
 */
export function strictRoutes(app: App): void {
  app.addHook('onRoute', (route) => {
    const { querystring = NO_QUERY, body = readsNoBody(route) ? NO_FIELDS : undefined } = route.schema ?? {};
    route.schema = {
      ...route.schema,
      querystring: closed(querystring),
      ...(body !== undefined && { body: closed(body) }),
    };
  });
}

/** Routes below a wildcard, and those of files, read their bodies themselves. */
function readsNoBody({ method, url, schema }: Pick<RouteOptions, 'method' | 'url' | 'schema'>): boolean {
  const hasNone = [method].flat().every((name) => name === 'GET' || name === 'HEAD');
  return !hasNone && !url.endsWith('*') && schema?.consumes === undefined;
}

/** The schema without additional properties of objects. */
function closed(schema: unknown): TSchema {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every route's schemas are made with TypeBox
  const known = schema as TSchema & Record<string, unknown>;
  const before = closedSchemas.get(known);
  if (before !== undefined) return before;
  const { properties, items, anyOf } = known;
  const result = {
    ...known,
    ...(isObject(properties) && {
      additionalProperties: false,
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, closed(each)])),
    }),
    ...('additionalProperties' in known && { additionalProperties: known['additionalProperties'] }),
    ...(isObject(items) && { items: closed(items) }),
    ...(Array.isArray(anyOf) && { anyOf: anyOf.map(closed) }),
  };
  // The same schema for several routes is compiled once.
  closedSchemas.set(known, result);
  return result;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
