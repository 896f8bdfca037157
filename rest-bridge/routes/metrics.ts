import type { App } from '../app.ts';
import type { RestDeps } from '../deps.ts';

/** `GET /metrics`: the node's metrics in the text format of Prometheus. */
export function metricsRoute(app: App, { metrics }: Pick<RestDeps, 'metrics'>): void {
  app.get('/metrics', { config: { public: true } }, async (_request, reply) =>
    reply.header('content-type', metrics.contentType).send(await metrics.text()),
  );
}
