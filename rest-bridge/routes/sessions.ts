import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Iam, Session } from '../../runtime/iam/iam.ts';
import type { App } from '../app.ts';
import { SESSION_COOKIE, sessionOf, sessionOfSecret } from '../authentication.ts';
import { badParameter, banned, RestError } from '../errors.ts';
import { answers, ErrorAnswer } from './schemas.ts';

const Text = Type.String({ maxLength: 1024 });

const Login = Type.Object({
  domain: Type.Optional(Text),
  login: Type.Optional(Text),
  pwd: Type.Optional(Text),
  session_type: Type.Optional(Type.Enum(['cookie', 'token', 'token_clone_cookie'])),
  token: Type.Optional(Type.String({ description: 'External token, confirmed by a scenario' })),
});

const TokenAnswer = Type.Object({ session_token: Type.String() });
const NoContent = Type.Null({ description: 'No body' });

const SessionData = Type.Object({
  domain: Type.String(),
  domain_is_master: Type.Boolean(),
  domains: Type.Array(Type.Object({ domain: Type.String(), is_master: Type.Boolean() })),
  login: Type.String(),
  name: Type.String(),
  name_login: Type.String(),
  roles: Type.Array(Type.String()),
  solution: Type.String(),
  user_id: Type.String(),
});

const CURRENT = '/iam/sessions/current';

/** Login, the session's data, and logout (specification, "Sessions"). */
export function sessionRoutes(app: App, { iam }: { readonly iam: Iam }): void {
  app.post(
    '/iam/sessions',
    {
      config: { public: true },
      schema: {
        body: Login,
        response: answers({ 200: TokenAnswer, 204: NoContent, 400: ErrorAnswer, 401: ErrorAnswer, 429: ErrorAnswer }),
      },
    },
    async (request, reply) => {
      const kind = request.body.session_type ?? 'cookie';
      if (kind === 'token_clone_cookie') return { session_token: await cloneCookie(iam, request) };
      const result = await iam.login(credentialsOf(request.body), kind, request.ip);
      if (!result.ok) {
        throw result.reason === 'banned' ? banned(result.retryAfterSeconds) : new RestError('WRONG_CREDENTIALS');
      }
      if (kind === 'token') return { session_token: result.token };
      setSessionCookie(reply, result.token, result.session);
      return reply.code(204).send();
    },
  );

  app.get(
    CURRENT,
    { config: { everyUser: true }, schema: { response: answers({ 200: SessionData, 401: ErrorAnswer }) } },
    async (request) => sessionData(sessionOf(request)),
  );

  app.delete(
    CURRENT,
    { config: { everyUser: true }, schema: { response: answers({ 204: NoContent, 401: ErrorAnswer }) } },
    async (request, reply) => {
      await iam.logout(sessionOf(request).id);
      // With an Authorization header the cookie's session stays.
      if (request.headers.authorization === undefined) reply.clearCookie(SESSION_COOKIE, COOKIE_ATTRIBUTES);
      return reply.code(204).send();
    },
  );
}

const COOKIE_ATTRIBUTES = { path: '/', sameSite: 'strict', secure: true, httpOnly: true } as const;

function setSessionCookie(reply: FastifyReply, token: string, session: Session): void {
  reply.setCookie(SESSION_COOKIE, token, { ...COOKIE_ATTRIBUTES, expires: new Date(session.expires) });
}

async function cloneCookie(iam: Iam, request: FastifyRequest): Promise<string> {
  const session = await sessionOfSecret(iam, request.cookies[SESSION_COOKIE], request.ip);
  const { token } = await iam.cloneToToken(session);
  return token;
}

function credentialsOf({ domain, login, pwd, token }: Static<typeof Login>) {
  if (token !== undefined) throw badParameter('token', 'external tokens are not configured on this node');
  if (domain === undefined) throw badParameter('domain', 'is missing');
  if (login === undefined) throw badParameter('login', 'is missing');
  if (pwd === undefined) throw badParameter('pwd', 'is missing');
  return { domain, login, pwd };
}

function sessionData(session: Session): Static<typeof SessionData> {
  const { domain, domainIsMaster, login, name, roles, userId } = session;
  return {
    domain,
    domain_is_master: domainIsMaster,
    domains: [{ domain, is_master: domainIsMaster }],
    login,
    name,
    name_login: name === '' || name === login ? login : `${name} (${login})`,
    roles: [...roles],
    solution: domainIsMaster ? 'master' : 'standard',
    user_id: userId,
  };
}
