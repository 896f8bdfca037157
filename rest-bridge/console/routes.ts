/** The console at `/`: one page for browsers, and its modules and styles below `/console/`. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Directory } from '../../runtime/domain/index.ts';
import { DEMO_DOMAIN } from '../../runtime/iam/index.ts';
import type { App } from '../app.ts';
import { RestError } from '../errors.ts';
import { sitePolicy } from '../site-policy.ts';
import { Bundle, ENTRY } from './bundle.ts';

/** Names of bundled files: no slash. */
const FILE = /^[\w.-]+\.(js|css)$/;

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/** Of the page: it may show avatars and recordings that it has fetched, and use the microphone for calls. */
const SOURCES = { 'img-src': "'self' blob: data:", 'media-src': "'self' blob:", 'worker-src': "'self'" };

/**
 * `GET /console/FILE`. Nothing of it needs a session: the page logs in at the REST service.
 *
 * @returns answers a browser that asks for `/`
 */
export function consoleRoutes(
  app: App,
  directory: Pick<Directory, 'domain'>,
): (request: FastifyRequest, reply: FastifyReply) => FastifyReply {
  const bundle = new Bundle();

  app.get<{ Params: { file: string } }>('/console/:file', { config: { public: true } }, async (request, reply) => {
    const [, extension = ''] = FILE.exec(request.params.file) ?? [];
    const file = extension === '' ? undefined : await bundle.file(request.params.file);
    if (file === undefined) throw new RestError('ENTITY_NOT_FOUND', { entity: 'File' });
    reply
      .type(TYPES[extension] ?? '')
      .header('etag', file.tag)
      .header('vary', 'accept-encoding');
    // The other names hold a digest of the content.
    reply.header('cache-control', ENTRY.includes(request.params.file) ? 'no-cache' : 'max-age=31536000, immutable');
    if (request.headers['if-none-match'] === file.tag) return reply.code(304).send();
    const { encoding, content } = await file.encoded(request.headers['accept-encoding'] ?? '');
    if (encoding !== undefined) reply.header('content-encoding', encoding);
    return reply.send(content);
  });

  return ({ headers: { host } }, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', sitePolicy(host, SOURCES))
      .header('permissions-policy', 'microphone=(self), camera=(), geolocation=()')
      .header('referrer-policy', 'no-referrer')
      .send(page(directory.domain(DEMO_DOMAIN) === undefined ? '' : DEMO_DOMAIN));
}

/** @param demo domain of the demo accounts; a node with demo data listens on loopback only, and their passwords are public */
function page(demo: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta name="demo" content="${demo}">
<title>Ringmaster</title>
<link rel="icon" href="/phone/icon.svg">
<link rel="stylesheet" href="/console/main.css">
<script type="module" src="/console/main.js"></script>
</head>
<body>
<noscript><p>The console needs JavaScript. Without it: the <a href="/docs/operating/README.md">documentation</a>,
the <a href="/rest/v1/docs">API reference</a>, the <a href="/healthz">health</a> and the <a href="/metrics">metrics</a>.</p></noscript>
<div id="app"></div>
</body>
</html>
`;
}
