/** The browser phone at `/phone`: a page, its modules and styles, and JsSIP. */
import { readFile } from 'node:fs/promises';
import type { FastifyReply } from 'fastify';
import type { Directory } from '../../runtime/domain/index.ts';
import { DEMO_DOMAIN, DEMO_PEOPLE, DEMO_SCENARIOS } from '../../runtime/iam/index.ts';
import type { App } from '../app.ts';
import { RestError } from '../errors.ts';
import { sitePolicy } from '../site-policy.ts';
import { type Joined, joinJsSip } from './jssip.ts';

const PAGE = new URL('page/', import.meta.url);

/** Files of the page: no slash, so none outside of its folder. */
const FILE = /^[a-z-]+\.(js|css|svg)$/;

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** Numbers to try beside those of the example scenarios. */
const ROOM = { number: '*7012', about: 'room 12' };
const TRIED = ['500', '501', '502'];

/** `GET /phone` and what the page loads. Nothing of it needs a session: the page logs in by SIP. */
export function phoneRoutes(app: App, directory: Pick<Directory, 'domain'>): void {
  const config = { public: true };
  let jssip: Promise<Joined> | undefined;

  app.get('/phone', { config }, async ({ headers: { host } }, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', sitePolicy(host, { 'img-src': "'self'" }))
      .header('permissions-policy', 'microphone=(self), camera=(), geolocation=()')
      .header('referrer-policy', 'no-referrer')
      .send(await readFile(new URL('index.html', PAGE), 'utf8')),
  );

  app.get('/phone/', { config }, async (_request, reply) => reply.redirect('/phone', 301));

  app.get('/phone/suggestions.json', { config }, async () => suggestions(directory));

  app.get('/phone/jssip.js', { config }, async ({ headers }, reply) => {
    jssip ??= joinJsSip();
    const { source, gzip, tag } = await jssip;
    reply.type(TYPES['js'] ?? '').header('cache-control', 'no-cache');
    reply.header('etag', tag).header('vary', 'accept-encoding');
    if (headers['if-none-match'] === tag) return reply.code(304).send();
    if (!/\bgzip\b/.test(headers['accept-encoding'] ?? '')) return reply.send(source);
    return reply.header('content-encoding', 'gzip').send(gzip);
  });

  app.get<{ Params: { file: string } }>('/phone/:file', { config }, async ({ params: { file } }, reply) =>
    sendFile(reply, file),
  );
}

async function sendFile(reply: FastifyReply, file: string): Promise<FastifyReply> {
  const [, extension = ''] = FILE.exec(file) ?? [];
  const content = extension === '' ? undefined : await readFile(new URL(file, PAGE), 'utf8').catch(() => undefined);
  if (content === undefined) throw new RestError('ENTITY_NOT_FOUND', { entity: 'File' });
  return reply.type(TYPES[extension] ?? '').send(content);
}

/** Accounts and numbers to try. A node with demo data listens on loopback only, and their passwords are public. */
function suggestions(directory: Pick<Directory, 'domain'>): object {
  if (directory.domain(DEMO_DOMAIN) === undefined) return { accounts: [], numbers: [] };
  const accounts = DEMO_PEOPLE.map(({ login, name, phonenumber }) => ({
    name: `${name} ${phonenumber}`,
    login,
    domain: DEMO_DOMAIN,
    password: `demo-${login}`,
  }));
  const scenarios = TRIED.map((number) => ({ number, about: DEMO_SCENARIOS[number] ?? '' }));
  const people = DEMO_PEOPLE.map(({ phonenumber: number, name: about }) => ({ number, about }));
  return { accounts, numbers: [...scenarios, ROOM, ...people] };
}
