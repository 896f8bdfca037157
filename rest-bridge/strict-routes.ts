/** Unknown query parameters and body fields are refused: one may be misspelt, and what it should limit would be done to all. */
import type { RouteOptions } from 'fastify';
import { type TSchema, Type } from 'typebox';
import type { App } from './app.ts';
import { OPTIONAL_BODY } from './validation.ts';

const NO_QUERY = Type.Object({});
/** Of methods that need no body: an empty object is as good as none. */
const NO_FIELDS = Type.Object({}, { [OPTIONAL_BODY]: true });

const closedSchemas = new WeakMap<object, TSchema>();

/** What routes without a body check bodies by. */
export const NO_BODY = closed(NO_FIELDS);

/**
 * From now on the routes of `app` take what their schemas name, and answer 400/1400 to everything else; an object schema
 * stays open when it says `additionalProperties: true`. Register this before whatever reads the schemas of routes.
 */
export function strictRoutes(app: App): void {
  app.addHook('onRoute', (route) => {
    // Only refuses the method.
    if (route.config?.allow !== undefined) return;
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

/** The same schema, whose objects take no other properties than those that it names. */
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
