import { Type } from 'typebox';
import { counted } from '../../runtime/words/index.ts';
import type { App } from '../app.ts';
import type { RestDeps } from '../deps.ts';
import { RestError } from '../errors.ts';
import { answers, ErrorAnswer } from './schemas.ts';

const HealthAnswer = Type.Object({
  status: Type.Literal('ok'),
  roles: Type.Array(Type.String(), { description: 'What this node does, see RINGMASTER_ROLES' }),
  database: Type.Enum(['ok', 'slow', 'unavailable']),
  history: Type.Optional(
    Type.Object({
      state: Type.Enum(['ok', 'behind', 'full'], {
        description: '`behind`: ended calls wait for the database; `full`: calls that end now are not kept',
      }),
      waiting: Type.Integer({ description: 'Ended calls that wait for the database' }),
      dropped: Type.Integer({ description: 'Calls that were not kept since the start of the node' }),
    }),
  ),
  cluster: Type.Optional(
    Type.Object({
      state: Type.Enum(['ok', 'away'], { description: '`away`: NATS does not answer, and the node works alone' }),
      node: Type.String({ description: 'Name of this node' }),
      nodes: Type.Integer({ description: 'Living nodes of the cluster that this node sees, itself included' }),
    }),
  ),
  counts: Type.Record(Type.String(), Type.Number()),
});

/**
 * `GET /healthz`: 200 when calls can be made, 503 otherwise, also while the node drains; with the state of the database and
 * the numbers of live objects.
 */
export function healthRoute(app: App, { health, drain }: Pick<RestDeps, 'health' | 'drain'>): void {
  app.get(
    '/healthz',
    { config: { public: true }, schema: { response: answers({ 200: HealthAnswer, 503: ErrorAnswer }) } },
    async () => {
      const { ok, roles, database, history, cluster, counts } = await health();
      const kept = {
        roles: [...roles],
        ...(history && { history: { ...history } }),
        ...(cluster && { cluster: { ...cluster } }),
      };
      const left = drain.state;
      if (ok && left.state !== 'accepting') {
        const reason = `the node is draining, ${counted(left.calls, 'call')} and ${counted(left.runs, 'run')} left`;
        throw new RestError('UNAVAILABLE', { reason, ...left, database, ...kept, counts });
      }
      if (!ok) throw new RestError('UNAVAILABLE', { reason: 'no calls can be made', database, ...kept, counts });
      return { status: 'ok' as const, database, ...kept, counts: { ...counts } };
    },
  );
}
