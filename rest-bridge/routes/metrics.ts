import type { App } from '../app.ts';
import type { RestDeps } from '../deps.ts';

/** `GET /metrics`: the node's figures in the text format of Prometheus, for whoever watches it. */
export function metricsRoute(app: App, { metrics }: Pick<RestDeps, 'metrics'>): void {
  app.get('/metrics', { config: { public: true } }, async (_request, reply) =>
    reply.header('content-type', metrics.contentType).send(await metrics.text()),
  );
}
