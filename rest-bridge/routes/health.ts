import { Type } from 'typebox';
import type { App } from '../app.ts';
import type { RestDeps } from '../deps.ts';
import { RestError } from '../errors.ts';
import { answers, ErrorAnswer } from './schemas.ts';

const HealthAnswer = Type.Object({ status: Type.Literal('ok'), counts: Type.Record(Type.String(), Type.Number()) });

/** `GET /healthz`: 200 when calls can be made, 503 otherwise; what is alive in the node either way. */
export function healthRoute(app: App, { health }: Pick<RestDeps, 'health'>): void {
  app.get(
    '/healthz',
    { config: { public: true }, schema: { response: answers({ 200: HealthAnswer, 503: ErrorAnswer }) } },
    async () => {
      const { ok, counts } = await health();
      if (!ok) throw new RestError('UNAVAILABLE', { reason: 'no calls can be made', counts });
      return { status: 'ok' as const, counts: { ...counts } };
    },
  );
}
