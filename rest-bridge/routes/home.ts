/** The first page of a node at `/`: the console, or links as plain text. The project's documentation below `/docs/`. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type App, BASE_PATH } from '../app.ts';
import { RestError } from '../errors.ts';

const DOCS = new URL('../../docs/', import.meta.url);

/** Files of the documentation: no dot but that of the extension, so none outside of the folder. */
const FILE = /^[a-z0-9_/-]+\.(md|json|yml)$/i;

const LINKS = [
  { path: '/phone', about: 'Phone: call from this browser' },
  { path: '/docs/scenarios/README.md', about: 'Writing scenarios' },
  { path: '/docs/rest/README.md', about: 'Programs: REST and events' },
  { path: `${BASE_PATH}/docs`, about: 'API reference' },
  { path: '/docs/operating/README.md', about: 'Operating a node' },
  { path: '/docs/phones.md', about: 'Connecting phones' },
  { path: '/healthz', about: 'Health' },
  { path: '/metrics', about: 'Metrics' },
] as const;

const STYLE =
  'body{max-width:60em;margin:2em auto;padding:0 1em;font:16px/1.5 sans-serif}pre{font-size:14px;white-space:pre-wrap}';
const CSP = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * `GET /` and `GET /docs/FILE`: HTML for browsers, plain text for others.
 *
 * @param sendConsole answers a browser that asks for `/`
 */
export function homeRoutes(
  app: App,
  sendConsole: (request: FastifyRequest, reply: FastifyReply) => FastifyReply,
): void {
  const config = { public: true };

  app.get('/', { config }, async (request, reply) => {
    if (wantsHtml(request)) return sendConsole(request, reply);
    const lines = LINKS.map(({ path, about }) => `${about.padEnd(32)}${path}`);
    return sendPlain(reply, `Ringmaster\n\n${lines.join('\n')}\n`);
  });

  app.get<{ Params: { '*': string } }>('/docs/*', { config }, async (request, reply) => {
    const { '*': file } = request.params;
    const content = FILE.test(file) ? await readFile(new URL(file, DOCS), 'utf8').catch(() => undefined) : undefined;
    if (content === undefined) throw new RestError('ENTITY_NOT_FOUND', { entity: 'File' });
    if (!file.endsWith('.md') || !wantsHtml(request)) return sendPlain(reply, content);
    const title = /^# (.*)/.exec(content)?.[1] ?? file;
    return sendHtml(reply, title, `<p><a href="/">Ringmaster</a></p>\n<pre>${linked(content, file)}</pre>`);
  });
}

function wantsHtml({ headers: { accept } }: FastifyRequest): boolean {
  return accept?.includes('text/html') === true;
}

/** Markdown as it is, with links to other pages of the documentation. */
function linked(markdown: string, file: string): string {
  return escaped(markdown).replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (whole, text: string, target: string) => {
    const { pathname } = new URL(target, `http://docs/docs/${file}`);
    const isPage = !/^[a-z]+:/i.test(target) && pathname.startsWith('/docs/') && pathname.endsWith('.md');
    return isPage ? `<a href="${pathname}">${text}</a>` : whole;
  });
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function sendPlain(reply: FastifyReply, text: string): FastifyReply {
  return reply.type('text/plain; charset=utf-8').send(text);
}

function sendHtml(reply: FastifyReply, title: string, body: string): FastifyReply {
  return reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', CSP)
    .send(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
${body}
</body>
</html>
`);
}
