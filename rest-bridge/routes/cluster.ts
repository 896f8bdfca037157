/** The nodes of the cluster. */
import { type Static, Type } from 'typebox';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import type { ClusterMember, RestDeps } from '../deps.ts';
import { RestError } from '../errors.ts';
import { answers, ErrorAnswer } from './schemas.ts';

const Node = Type.Object({
  id: Type.String({ description: 'Of its process: another one after each start' }),
  node: Type.String({ description: 'Its name' }),
  site: Type.String(),
  roles: Type.Array(Type.String()),
  version: Type.String({ description: 'Of the program' }),
  http: Type.String({ description: 'URL of its REST service' }),
  started: Type.Integer({ description: 'Milliseconds since the epoch' }),
  state: Type.Enum(['accepting', 'draining', 'ending']),
  calls: Type.Integer({ description: 'Live dialogs' }),
  runs: Type.Integer({ description: 'Runs of scenarios and operations with calls' }),
  subscriptions: Type.Integer({ description: 'Subscriptions of phones, such as lamps' }),
});

const Answer = Type.Object({
  state: Type.Enum(['single', 'ok', 'away'], {
    description: '`single`: no cluster is set up; `away`: NATS does not answer, and the node works alone',
  }),
  nodes: Type.Array(Node, { description: 'The asked node first; with `away` the others as they were last seen' }),
});

/** `GET /api/cluster`: for users whose role allows it, and who administer the master domain. */
export function clusterRoute(app: App, { cluster, iam }: Pick<RestDeps, 'cluster' | 'iam'>): void {
  app.get(
    '/api/cluster',
    { schema: { summary: 'The nodes of the cluster', response: answers({ 200: Answer, 403: ErrorAnswer }) } },
    async (request) => {
      const reachable = await iam.reachableDomains(sessionOf(request));
      if (!reachable.some((domain) => domain.is_master)) {
        const reason = 'the cluster serves every domain: administrators of the master domain see it';
        throw new RestError('FORBIDDEN', { reason });
      }
      if (cluster === undefined) return { state: 'single' as const, nodes: [] };
      return { state: cluster.state.state, nodes: cluster.members.map(view) };
    },
  );
}

function view({ load, roles, ...member }: ClusterMember): Static<typeof Node> {
  return { ...member, roles: [...roles], ...load };
}
