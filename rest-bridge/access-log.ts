import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { App } from './app.ts';
import { redactBody } from './redact.ts';
import { roleMethod, routeName } from './route-names.ts';

/** Programs ask these every few seconds. The events that they report are logged anyway. */
const POLLED: ReadonlySet<string | undefined> = new Set(['/healthz', '/metrics']);

type Level = 'debug' | 'error' | 'info';

/**
 * One line for each request: who called what, the answer's status, and the milliseconds; at level debug where programs poll. The query,
 * headers and cookies are not logged; the body is, at level debug, without secrets and DTMF digits.
 */
export function logAccess(app: App, log: Logger): void {
  app.addHook('onResponse', (request, reply, done) => {
    const level = POLLED.has(request.routeOptions.url) ? 'debug' : reply.statusCode >= 500 ? 'error' : 'info';
    if (log.isLevelEnabled(level)) write(request, reply, level);
    done();
  });

  const write = (request: FastifyRequest, reply: FastifyReply, level: Level): void => {
    const pattern = request.routeOptions.url;
    const route = pattern === undefined ? undefined : routeName(pattern).path;
    const method = roleMethod(request);
    const path = request.url.split('?', 1)[0] ?? '';
    const { session } = request;
    const status = reply.statusCode;
    request.log[level](
      {
        method,
        // The method already names the suffix.
        path:
          method === request.method ? path : path.slice(0, Math.max(path.lastIndexOf('!'), path.lastIndexOf('%21'))),
        route,
        status,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        ip: request.ip,
        ...(session && { domain: session.domain, login: session.login }),
        operation: reply.getHeader('operation-id'),
      },
      'request',
    );
  };

  app.addHook('preHandler', (request, _reply, done) => {
    if (request.body !== undefined && request.body !== null && log.isLevelEnabled('debug')) {
      request.log.debug({ body: redactBody(request.body) }, 'request body');
    }
    done();
  });
}
