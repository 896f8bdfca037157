import { Type } from 'typebox';
import type { App } from '../app.ts';
import type { RestDeps } from '../deps.ts';
import { RestError } from '../errors.ts';
import { answers, ErrorAnswer } from './schemas.ts';

const HealthAnswer = Type.Object({
  status: Type.Literal('ok'),
  database: Type.Enum(['ok', 'slow', 'unavailable']),
  counts: Type.Record(Type.String(), Type.Number()),
});

/** `GET /healthz`: 200 when calls can be made, 503 otherwise; with the state of the database and the numbers of live objects. */
export function healthRoute(app: App, { health }: Pick<RestDeps, 'health'>): void {
  app.get(
    '/healthz',
    { config: { public: true }, schema: { response: answers({ 200: HealthAnswer, 503: ErrorAnswer }) } },
    async () => {
      const { ok, database, counts } = await health();
      if (!ok) throw new RestError('UNAVAILABLE', { reason: 'no calls can be made', database, counts });
      return { status: 'ok' as const, database, counts: { ...counts } };
    },
  );
}
