/** Makes one operation of the OpenAPI document: its parameters, body and answers, from the schemas of its route. */
import type { TSchema } from 'typebox';
import { ErrorAnswer, NoContent } from '../routes/schemas.ts';
import { NO_BODY } from '../strict-routes.ts';
import { OPTIONAL_BODY } from '../validation.ts';
import type { DocumentedRoute } from './collect.ts';

export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export const ERROR = { $ref: '#/components/schemas/Error' } as const;
const ERROR_RESPONSE = { $ref: '#/components/responses/Error' } as const;

/** A schema as plain JSON. */
export function plain(schema: unknown): Json {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what JSON.parse makes
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => (key === OPTIONAL_BODY ? undefined : value)),
  ) as Json;
}

interface RouteSchemas {
  readonly params?: ObjectSchema;
  readonly querystring?: ObjectSchema;
  readonly body?: TSchema;
  readonly response?: Readonly<Record<string, TSchema & { readonly description?: string }>>;
  readonly summary?: string;
  readonly description?: string;
  readonly consumes?: readonly string[];
  readonly produces?: readonly string[];
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>;
  readonly required?: readonly string[];
}

export function operationOf({ path, method, custom, schema, isPublic }: DocumentedRoute): JsonObject {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every route's schemas are made with TypeBox
  const schemas = schema as RouteSchemas;
  const base = custom === undefined ? path : path.slice(0, path.lastIndexOf('!'));
  const meant = `${custom ?? method} ${base}`;
  const parameters = [...pathParameters(path, schemas.params), ...queryParameters(schemas.querystring)];
  const summary = schemas.summary ?? meant;
  const note = custom === undefined ? '' : `The form for clients that cannot send the method itself: \`${meant}\`.`;
  const description = [schemas.description ?? '', note].filter(Boolean).join('\n\n');
  return {
    operationId: `${custom ?? method}${base}`
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '_')
      .replace(/_$/, ''),
    tags: [tagOf(base)],
    summary,
    ...(description !== '' && { description }),
    ...(parameters.length > 0 && { parameters }),
    ...requestBody(schemas, method),
    responses: responses(schemas),
    ...(isPublic && { security: [] }),
  };
}

/** The first two parts of the path, e.g. `uc/calls`. */
function tagOf(path: string): string {
  return (
    path
      .split('/')
      .filter((part) => part !== '' && !part.startsWith('{'))
      .slice(0, 2)
      .join('/') || 'sections'
  );
}

function pathParameters(path: string, schema: ObjectSchema | undefined): Json[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: plain(schema?.properties?.[name] ?? { type: 'string' }),
  }));
}

function queryParameters({ properties = {}, required = [] }: ObjectSchema = {}): Json[] {
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...type } = property;
    return {
      name,
      in: 'query',
      required: required.includes(name),
      ...(description !== undefined && { description }),
      schema: plain(type),
    };
  });
}

function requestBody({ body, consumes }: RouteSchemas, method: string): { requestBody?: Json } {
  if (consumes !== undefined) {
    const file = { type: 'object', properties: { file: { type: 'string', format: 'binary' } } };
    return {
      requestBody: { required: true, content: Object.fromEntries(consumes.map((type) => [type, { schema: file }])) },
    };
  }
  if (body === undefined || body === NO_BODY) return {};
  const form = {
    type: 'object',
    required: ['data'],
    properties: { data: { type: 'string', description: 'The same as JSON' } },
  };
  return {
    requestBody: {
      required: !(OPTIONAL_BODY in body),
      content: {
        'application/json': { schema: plain(body) },
        'application/x-www-form-urlencoded': { schema: form },
        // PATCH and DELETE take the first two.
        ...((method === 'POST' || method === 'PUT') && {
          'multipart/form-data': { schema: form },
          'application/octet-stream': {},
        }),
      },
    },
  };
}

function responses({ response = {}, produces }: RouteSchemas): JsonObject {
  const file = produces === undefined ? undefined : Object.fromEntries(produces.map((type) => [type, {}]));
  const known = Object.entries(response).map(([status, schema]): [string, Json] => {
    const answer = responseOf(status, schema);
    const isFile = file !== undefined && status.startsWith('2');
    return [status, isFile ? { ...answer, content: { ...(answer['content'] as JsonObject), ...file } } : answer];
  });
  const isKnown = known.some(([status]) => status.startsWith('2'));
  const good: Json = { description: 'Done', ...(file !== undefined && { content: file }) };
  return { ...(isKnown ? {} : { 200: good }), ...Object.fromEntries(known), default: ERROR_RESPONSE };
}

function responseOf(status: string, schema: TSchema & { readonly description?: string }): JsonObject {
  if (schema === ErrorAnswer) return { description: ERRORS[status] ?? 'Error', content: jsonOf(ERROR) };
  if (schema === NoContent) return { description: 'Done; no body' };
  return { description: schema.description ?? 'Done', content: jsonOf(plain(schema)) };
}

function jsonOf(schema: Json): JsonObject {
  return { 'application/json': { schema } };
}

const ERRORS: Readonly<Record<string, string>> = {
  400: 'A parameter is wrong; error_details names field and reason',
  401: 'Log in first',
  403: 'Not allowed',
  404: 'No such entity',
  409: 'It exists already',
  413: 'Too large',
  415: 'Content type not supported',
  422: 'Cannot be applied',
  429: 'Too many failed logins, or requests',
  503: 'Try again later',
};
