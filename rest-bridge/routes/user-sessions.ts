/** Routes of users' sessions. */
import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Directory } from '../../runtime/domain/index.ts';
import type { Accounts, SessionSummary } from '../../runtime/iam/index.ts';
import { fieldTypes } from '../../runtime/model/index.ts';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import { answerList, answerRead, Count, ListQuery, ReadQuery, type ResourceType } from '../collection/list.ts';
import { scopeOf } from '../domain-scope.ts';
import { RestError } from '../errors.ts';
import { ID } from '../route-names.ts';
import { answers, ErrorAnswer, IdPath, NoContent } from './schemas.ts';

const UserSession = Type.Object({
  id: Type.String(),
  session_type: Type.Enum(['cookie', 'token']),
  domain: Type.String(),
  created: Type.Integer({ description: 'Milliseconds since the epoch' }),
  expires: Type.Integer({ description: 'Milliseconds since the epoch' }),
  current: Type.Boolean({ description: 'The session that asks' }),
});

/** The answered fields depend on the mask. */
const Shown = Type.Partial(UserSession);

const SESSION: ResourceType = {
  fields: Object.keys(UserSession.properties),
  aliases: {},
  types: fieldTypes(UserSession),
};

interface UserSessionDeps {
  readonly accounts: Accounts;
  readonly directory: Pick<Directory, 'domain' | 'domains'>;
}

/** Sessions of users, for administrators (specification, "Sessions"), and the user's own. */
export function userSessionRoutes(app: App, { accounts, directory }: UserSessionDeps): void {
  /** @throws {RestError} 404/1404, also for users of foreign domains */
  const visibleUser = async (request: FastifyRequest, id: string): Promise<string> => {
    const user = await accounts.user(id);
    if (user === undefined || !scopeOf(directory, sessionOf(request)).visible.has(user.domainId)) {
      throw new RestError('ENTITY_NOT_FOUND', { entity: 'User' });
    }
    return user.id;
  };
  const paths = [
    { base: `/iam/users/${ID}/sessions`, everyUser: false, userOf: visibleUser },
    { base: '/user/sessions', everyUser: true, userOf: async (request: FastifyRequest) => sessionOf(request).userId },
  ] as const;
  for (const { base, everyUser, userOf } of paths) {
    const config = { everyUser };
    const one = `${base}/:session(^[^!]+)`;
    // The own path does not name the user.
    const ofUser = Type.Object(everyUser ? {} : IdPath.properties);
    const ofSession = Type.Object({ ...ofUser.properties, session: Type.String({ minLength: 1 }) });
    const idOf = (request: FastifyRequest): string => String((request.params as { id?: string }).id);

    app.get(
      base,
      {
        config,
        schema: {
          params: ofUser,
          querystring: ListQuery,
          response: answers({ 200: Type.Union([Type.Array(Shown), Count]), 400: ErrorAnswer, 404: ErrorAnswer }),
        },
      },
      async (request) => {
        const sessions = await accounts.sessionsOf(await userOf(request, idOf(request)));
        return answerList(
          SESSION,
          sessions.map((session) => view(session, request)),
          request.query,
        );
      },
    );

    app.get(
      one,
      {
        config,
        schema: { params: ofSession, querystring: ReadQuery, response: answers({ 200: Shown, 404: ErrorAnswer }) },
      },
      async (request) => {
        const sessions = await accounts.sessionsOf(await userOf(request, idOf(request)));
        const session = sessions.find(({ id }) => id === request.params.session);
        if (session === undefined) throw new RestError('ENTITY_NOT_FOUND', { entity: 'Session' });
        return answerRead(SESSION, view(session, request), request.query);
      },
    );

    app.delete(
      one,
      { config, schema: { params: ofSession, response: answers({ 204: NoContent, 404: ErrorAnswer }) } },
      async (request, reply) => {
        const { session } = request.params;
        if (!(await accounts.endSession(await userOf(request, idOf(request)), session))) {
          throw new RestError('ENTITY_NOT_FOUND', { entity: 'Session' });
        }
        return reply.code(204).send();
      },
    );

    app.delete(
      base,
      {
        config,
        schema: {
          ...(everyUser && { summary: 'Ends all other sessions of the user' }),
          params: ofUser,
          response: answers({ 204: NoContent, 404: ErrorAnswer }),
        },
      },
      async (request, reply) => {
        const userId = await userOf(request, idOf(request));
        // Ending the own session is a logout.
        await accounts.endSessions(userId, everyUser ? sessionOf(request).id : undefined);
        return reply.code(204).send();
      },
    );
  }
}

function view(
  { id, kind, domain, created, expires }: SessionSummary,
  request: FastifyRequest,
): Static<typeof UserSession> {
  return { id, session_type: kind, domain, created, expires, current: id === sessionOf(request).id };
}
