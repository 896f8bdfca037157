/** Serves `/openapi.json` and a page to browse it, without resources of other servers. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Type } from 'typebox';
import type { App } from '../app.ts';
import { secretOf, sessionOfSecret } from '../authentication.ts';
import type { RestDeps } from '../deps.ts';
import { RestError } from '../errors.ts';
import { answers } from '../routes/schemas.ts';
import { asyncApiDocument } from './asyncapi.ts';
import type { DocumentedRoute } from './collect.ts';
import { openApiDocument } from './document.ts';
import { eventSchemas } from './events.ts';
import { modelRoutesOf } from './model-paths.ts';

const FOLDER = new URL('static/', import.meta.resolve('@fastify/swagger-ui/package.json'));

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Ringmaster REST</title>
    <link rel="stylesheet" href="docs/swagger-ui.css" />
    <link rel="icon" href="data:," />
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

const START = `SwaggerUIBundle({ url: 'openapi.json', dom_id: '#swagger-ui', docExpansion: 'none', filter: true });
`;

/** The other files of the page. */
const FILES: Readonly<Record<string, { readonly type: string; readonly text?: string }>> = {
  'swagger-ui.css': { type: 'text/css' },
  'swagger-ui-bundle.js': { type: 'text/javascript' },
  'start.js': { type: 'text/javascript', text: START },
};

const CSP = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

const EventSchema = Type.Object({
  event: Type.String({ description: '`class.type`; `*` for types that scenarios choose' }),
  description: Type.String(),
  schema: Type.Object({}, { additionalProperties: true }),
});

/** @param routes of the service; complete at the first request */
export function documentRoutes(
  app: App,
  { iam, model, directory }: Pick<RestDeps, 'iam' | 'model' | 'directory'>,
  routes: readonly DocumentedRoute[],
): void {
  const open = { public: true };

  app.get(
    '/openapi.json',
    {
      config: open,
      schema: {
        description: 'This document. With a session, the classes that it may read are in it, too.',
        response: answers({ 200: Type.Object({}, { additionalProperties: true }) }),
      },
    },
    async (request) => {
      const secret = secretOf(request);
      if (secret === undefined) return openApiDocument(routes);
      const session = await sessionOfSecret(iam, secret, request.ip);
      const id = directory.domain(session.domain)?.id;
      const mayRead = (path: string): boolean => iam.allows(session, 'GET', path);
      return openApiDocument([...routes, ...(id === undefined ? [] : modelRoutesOf(model, id, mayRead))]);
    },
  );

  app.get(
    '/asyncapi.json',
    {
      config: open,
      schema: {
        description: 'The WebSocket as an AsyncAPI 3 document.',
        response: answers({ 200: Type.Object({}, { additionalProperties: true }) }),
      },
    },
    async ({ protocol, host }) => asyncApiDocument({ protocol, host }),
  );

  app.get(
    '/event-schemas.json',
    {
      config: open,
      schema: {
        description: 'JSON Schemas of the data of all events.',
        response: answers({ 200: Type.Array(EventSchema) }),
      },
    },
    async () => [...eventSchemas()],
  );

  app.get('/docs', { config: open, schema: { produces: ['text/html'] } }, async (_request, reply) =>
    reply.type('text/html; charset=utf-8').header('content-security-policy', CSP).send(PAGE),
  );

  // The page names its parts relative to the path without a slash.
  app.get('/docs/', { config: open, prefixTrailingSlash: 'slash', schema: { hide: true } }, async (_request, reply) =>
    reply.redirect('../docs', 308),
  );

  app.get(
    '/docs/:file',
    {
      config: open,
      schema: { params: Type.Object({ file: Type.String() }), produces: ['text/css', 'text/javascript'] },
    },
    async (request, reply) => {
      const { file } = request.params;
      const known = Object.hasOwn(FILES, file) ? FILES[file] : undefined;
      if (known === undefined) throw new RestError('ENTITY_NOT_FOUND', { entity: 'File' });
      const content = known.text ?? (await readFile(fileURLToPath(new URL(file, FOLDER))));
      return reply.type(`${known.type}; charset=utf-8`).header('cache-control', 'max-age=3600').send(content);
    },
  );
}
