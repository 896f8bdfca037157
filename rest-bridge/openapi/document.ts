/** Makes the OpenAPI 3.1 document from the routes and their schemas. */
import { BASE_PATH } from '../app.ts';
import { ErrorAnswer } from '../routes/schemas.ts';
import { SESSION_COOKIE } from '../authentication.ts';
import type { DocumentedRoute } from './collect.ts';
import { dataSchemas, webhookOperations } from './events.ts';
import { ERROR, type Json, type JsonObject, operationOf, plain } from './operation.ts';

export interface OpenApiDocument extends JsonObject {
  readonly openapi: string;
  readonly paths: { readonly [path: string]: { readonly [method: string]: JsonObject } };
}

const DESCRIPTION = `The REST service. Methods such as REFER and LOOKUP, which OpenAPI has no place for, are shown in their
form \`POST <path>!<method>\`; the plain methods work as well. PUT, PATCH, DELETE and HEAD can be sent as \`POST <path>!put\`
and so on.`;

export function openApiDocument(routes: readonly DocumentedRoute[]): OpenApiDocument {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const route of routes) {
    const path = documentedPath(route.path);
    const item = (paths[path] ??= {});
    // The first of two routes is the one with the narrower schema.
    item[route.method.toLowerCase()] ??= operationOf({ ...route, path });
  }
  const error: Json = { description: 'Error', content: { 'application/json': { schema: ERROR } } };
  return {
    openapi: '3.1.0',
    info: { title: 'Ringmaster', version: 'v1', description: DESCRIPTION, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: BASE_PATH }],
    security: [{ token: [] }, { cookie: [] }],
    paths: Object.fromEntries(Object.entries(paths).toSorted(([a], [b]) => (a < b ? -1 : 1))),
    webhooks: webhookOperations(),
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'The session_token of a login' },
        cookie: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE },
      },
      schemas: { Error: plain(ErrorAnswer), ...dataSchemas() },
      responses: { Error: error },
    },
  };
}

/** A wildcard in a path becomes a parameter of the document. */
function documentedPath(path: string): string {
  return path.replace(/\*/, '{class_path}');
}
