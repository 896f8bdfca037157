import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Iam, LoginResult, Session } from '../../runtime/iam/index.ts';
import type { App } from '../app.ts';
import { clearSessionCookie, cookieOf, sessionOf, sessionOfSecret, setSessionCookie } from '../authentication.ts';
import { badParameter, banned, RestError } from '../errors.ts';
import { refuseForeignOrigin } from '../same-origin.ts';
import { SessionData, type SessionDataSources, sessionData } from '../session-data.ts';
import { answers, ErrorAnswer, NoContent } from './schemas.ts';

const Text = Type.String({ maxLength: 1024 });

const Login = Type.Object({
  domain: Type.Optional(Text),
  login: Type.Optional(Text),
  pwd: Type.Optional(Text),
  session_type: Type.Optional(Type.Enum(['cookie', 'token', 'token_clone_cookie'])),
  token: Type.Optional(
    Type.String({ minLength: 1, maxLength: 16_384, description: 'External token, confirmed by a scenario' }),
  ),
});

const TokenAnswer = Type.Object({ session_token: Type.String() });

const CURRENT = '/iam/sessions/current';

/** Login, the session's data, and logout (specification, "Sessions"). */
export function sessionRoutes(app: App, deps: SessionDataSources & { readonly iam: Iam }): void {
  const { iam } = deps;
  app.post(
    '/iam/sessions',
    {
      config: { public: true },
      schema: {
        body: Login,
        response: answers({
          200: TokenAnswer,
          204: NoContent,
          400: ErrorAnswer,
          401: ErrorAnswer,
          403: ErrorAnswer,
          422: ErrorAnswer,
          503: ErrorAnswer,
          429: ErrorAnswer,
        }),
      },
    },
    async (request, reply) => {
      const kind = request.body.session_type ?? 'cookie';
      if (kind === 'token_clone_cookie') return { session_token: await cloneCookie(iam, request) };
      // A form of another site could log the browser in to a foreign account, which would then see the user's actions.
      if (kind === 'cookie') refuseForeignOrigin(request.headers);
      const result = await logIn(iam, request.body, kind, request.ip);
      if (kind === 'token') return { session_token: result.token };
      setSessionCookie(reply, result.token, result.session);
      return reply.code(204).send();
    },
  );

  app.get(
    CURRENT,
    {
      config: { everyUser: true, tokenOrCookie: true },
      schema: { response: answers({ 200: SessionData, 401: ErrorAnswer }) },
    },
    async (request) => sessionData(deps, sessionOf(request)),
  );

  app.patch(
    CURRENT,
    {
      config: { everyUser: true },
      schema: {
        body: Type.Object({ domain: Text }, { additionalProperties: false }),
        response: answers({ 200: SessionData, 400: ErrorAnswer, 401: ErrorAnswer, 403: ErrorAnswer }),
      },
    },
    async (request) => {
      const session = await iam.changeDomain(sessionOf(request), request.body.domain);
      if (session === undefined) throw new RestError('FORBIDDEN');
      return sessionData(deps, session);
    },
  );

  app.delete(
    CURRENT,
    { config: { everyUser: true }, schema: { response: answers({ 204: NoContent, 401: ErrorAnswer }) } },
    async (request, reply) => {
      await iam.logout(sessionOf(request).id);
      // With an Authorization header the cookie's session stays.
      if (request.headers.authorization === undefined) clearSessionCookie(reply);
      return reply.code(204).send();
    },
  );
}

async function cloneCookie(iam: Iam, request: FastifyRequest): Promise<string> {
  const session = await sessionOfSecret(iam, cookieOf(request), request.ip);
  const { token } = await iam.cloneToToken(session);
  return token;
}

/** @throws {RestError} 400 for a missing credential, 401 for a wrong one, 422 and 503 without a scenario for tokens, 429 */
async function logIn(
  iam: Iam,
  { domain, login, pwd, token }: Static<typeof Login>,
  kind: Session['kind'],
  ip: string,
): Promise<Extract<LoginResult, { ok: true }>> {
  // With an external token, the other credentials are optional and ignored.
  const result =
    token === undefined
      ? await iam.login(
          { domain: required('domain', domain), login: required('login', login), pwd: required('pwd', pwd) },
          kind,
          ip,
        )
      : await iam.loginByToken(token, kind, ip);
  if (result.ok) return result;
  switch (result.reason) {
    case 'banned':
      throw banned(result.retryAfterSeconds);
    case 'credentials':
      throw new RestError('WRONG_CREDENTIALS');
    case 'not_configured': {
      const reason =
        'external tokens need the setting iam_token_svcscript_code in the master domain, and the svcscript that it names';
      throw new RestError('CANNOT_APPLY', { field: 'token', reason });
    }
    case 'no_answer':
      throw new RestError('UNAVAILABLE', { reason: 'the scenario that confirms external tokens gives no answer' });
    default:
      return result satisfies never;
  }
}

function required(field: string, value: string | undefined): string {
  if (value === undefined) throw badParameter(field, 'is missing');
  return value;
}
