/** Routes of the node's drain before its end. */
import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import type { RestDeps } from '../deps.ts';
import { RestError } from '../errors.ts';
import { answers, ErrorAnswer } from './schemas.ts';

const State = Type.Object({
  state: Type.Enum(['accepting', 'draining', 'ending'], {
    description: '`ending`: the drain is over, and the node ends',
  }),
  calls: Type.Integer({ description: 'Live dialogs; of an ending node those that it had to end' }),
  runs: Type.Integer({ description: 'Runs of scenarios and operations with calls' }),
  since: Type.Optional(Type.Integer({ description: 'Begin of the drain, milliseconds since the epoch' })),
  until: Type.Optional(
    Type.Integer({ description: 'When the remaining calls are ended, milliseconds since the epoch' }),
  ),
});
// A POST without a body has null.
const Begin = Type.Union([
  Type.Null(),
  Type.Object({
    seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 86_400,
        description: 'Time for the calls to end; else RINGMASTER_DRAIN, or 600',
      }),
    ),
  }),
]);
const Query = Type.Object({
  wait: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 60, description: 'Seconds to wait for the end of a drain before the answer' }),
  ),
});

const ANSWER = answers({ 200: State, 403: ErrorAnswer });

/** `/api/drain`: read by roles that allow it; changed by users who also administer the master domain. */
export function drainRoutes(app: App, { drain, iam, log }: Pick<RestDeps, 'drain' | 'iam' | 'log'>): void {
  /** @throws RestError 403/1401: the node serves other domains too */
  const administer = async (request: FastifyRequest, change: string): Promise<void> => {
    const session = sessionOf(request);
    const reachable = await iam.reachableDomains(session);
    if (!reachable.some((domain) => domain.is_master)) {
      const reason = 'the node serves every domain: administrators of the master domain drain it';
      throw new RestError('FORBIDDEN', { reason });
    }
    log.info({ domain: session.domain, login: session.login }, change);
  };

  app.get('/api/drain', { schema: { querystring: Query, response: ANSWER } }, async (request) => {
    const { wait = 0 } = request.query;
    if (wait > 0) await drain.ended(wait * 1000);
    return view(drain);
  });

  app.post(
    '/api/drain',
    {
      schema: {
        summary: 'Takes no new calls, and ends the node after the live ones',
        body: Type.Optional(Begin),
        response: ANSWER,
      },
    },
    async (request) => {
      await administer(request, 'drain asked for');
      drain.begin(request.body?.seconds === undefined ? undefined : request.body.seconds * 1000);
      return view(drain);
    },
  );

  app.delete(
    '/api/drain',
    { schema: { summary: 'Takes calls again, while the node is still up', response: ANSWER } },
    async (request) => {
      await administer(request, 'end of the drain asked for');
      if (!drain.cancel() && drain.state.state === 'ending') {
        throw new RestError('CANNOT_APPLY', { field: 'drain', reason: 'it is over, and the node ends' });
      }
      return view(drain);
    },
  );
}

function view({ state }: RestDeps['drain']): Static<typeof State> {
  return state;
}
