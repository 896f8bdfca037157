/** A span for each REST request, below that of the caller (W3C Trace Context). */
import type { FastifyRequest } from 'fastify';
import type { Span, Tracing } from '../runtime/tracing/index.ts';
import { type App, BASE_PATH } from './app.ts';
import { roleMethod, routeName } from './route-names.ts';

/** Adds the hooks. To be called only with tracing: without it, requests pass no hook. */
export function traceRequests(app: App, tracing: Tracing): void {
  const spans = new WeakMap<FastifyRequest, Span>();

  app.addHook('onRequest', (request, _reply, done) => {
    if (!request.url.startsWith(BASE_PATH)) return done();
    const pattern = request.routeOptions.url;
    const route = pattern === undefined ? undefined : routeName(pattern).path;
    const method = roleMethod(request);
    const { traceparent } = request.headers;
    const attributes = { 'http.request.method': method, 'http.route': route };
    const header = typeof traceparent === 'string' ? traceparent : undefined;
    spans.set(
      request,
      tracing.start(route === undefined ? method : `${method} ${route}`, 'server', attributes, header),
    );
    done();
  });
  // Here, and not before: the body comes with events of the connection, which has no span.
  app.addHook('preHandler', (request, _reply, done) => {
    const span = spans.get(request);
    if (span === undefined) done();
    else span.run(done);
  });
  app.addHook('onResponse', (request, reply, done) => {
    const span = spans.get(request);
    const operation = reply.getHeader('operation-id');
    span?.set({
      'http.response.status_code': reply.statusCode,
      'ringmaster.operation.id': typeof operation === 'string' ? operation : undefined,
    });
    span?.end(reply.statusCode >= 500 ? `status ${reply.statusCode}` : undefined);
    done();
  });
}
