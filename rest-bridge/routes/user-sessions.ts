import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Directory } from '../../runtime/domain/directory.ts';
import type { Accounts, SessionSummary, UserProfile } from '../../runtime/iam/accounts.ts';
import { fieldTypes } from '../../runtime/model/filter/index.ts';
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

/** Which of the fields are answered depends on the mask. */
const Shown = Type.Partial(UserSession);

const SESSION: ResourceType = {
  fields: Object.keys(UserSession.properties),
  aliases: {},
  types: fieldTypes(UserSession),
};

const SessionPath = Type.Object({ ...IdPath.properties, session: Type.String({ minLength: 1 }) });

interface UserSessionDeps {
  readonly accounts: Accounts;
  readonly directory: Pick<Directory, 'domain' | 'domains'>;
}

/** Sessions of users, for administrators (specification, "Sessions"). */
export function userSessionRoutes(app: App, { accounts, directory }: UserSessionDeps): void {
  /** @throws {RestError} 404/1404, also for users of foreign domains */
  const visibleUser = async (request: FastifyRequest, id: string): Promise<UserProfile> => {
    const user = await accounts.user(id);
    if (user === undefined || !scopeOf(directory, sessionOf(request)).visible.has(user.domainId)) {
      throw new RestError('ENTITY_NOT_FOUND', { entity: 'User' });
    }
    return user;
  };
  const base = `/iam/users/${ID}/sessions`;
  const one = `${base}/:session(^[^!]+)`;

  app.get(
    base,
    {
      schema: {
        params: IdPath,
        querystring: ListQuery,
        response: answers({ 200: Type.Union([Type.Array(Shown), Count]), 400: ErrorAnswer, 404: ErrorAnswer }),
      },
    },
    async (request) => {
      const user = await visibleUser(request, request.params.id);
      const sessions = (await accounts.sessionsOf(user.id)).map((session) => view(session, request));
      return answerList(SESSION, sessions, request.query);
    },
  );

  app.get(
    one,
    {
      schema: {
        params: SessionPath,
        querystring: ReadQuery,
        response: answers({ 200: Shown, 404: ErrorAnswer }),
      },
    },
    async (request) => {
      const user = await visibleUser(request, request.params.id);
      const session = (await accounts.sessionsOf(user.id)).find(({ id }) => id === request.params.session);
      if (session === undefined) throw new RestError('ENTITY_NOT_FOUND', { entity: 'Session' });
      return answerRead(SESSION, view(session, request), request.query);
    },
  );

  app.delete(
    one,
    { schema: { params: SessionPath, response: answers({ 204: NoContent, 404: ErrorAnswer }) } },
    async (request, reply) => {
      const user = await visibleUser(request, request.params.id);
      if (!(await accounts.endSession(user.id, request.params.session))) {
        throw new RestError('ENTITY_NOT_FOUND', { entity: 'Session' });
      }
      return reply.code(204).send();
    },
  );

  app.delete(
    base,
    { schema: { params: IdPath, response: answers({ 204: NoContent, 404: ErrorAnswer }) } },
    async (request, reply) => {
      const user = await visibleUser(request, request.params.id);
      for (const { id } of await accounts.sessionsOf(user.id)) await accounts.endSession(user.id, id);
      return reply.code(204).send();
    },
  );
}

function view(
  { id, kind, domain, created, expires }: SessionSummary,
  request: FastifyRequest,
): Static<typeof UserSession> {
  return { id, session_type: kind, domain, created, expires, current: id === sessionOf(request).id };
}
