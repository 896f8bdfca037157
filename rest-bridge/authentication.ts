import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Iam, Session } from '../runtime/iam/index.ts';
import { banned, RestError, tooOften } from './errors.ts';
import { senderKnown } from './http/front.ts';
import { roleMethod, rolePath } from './route-names.ts';
import { refuseForeignOrigin } from './same-origin.ts';
import type { SessionRate } from './session-rate.ts';

export const SESSION_COOKIE = 'RingmasterSession';
const COOKIE_ATTRIBUTES = { path: '/', sameSite: 'strict', secure: true, httpOnly: true } as const;

/** @param secret of the session */
export function setSessionCookie(reply: FastifyReply, secret: string, { expires }: Session): void {
  reply.setCookie(SESSION_COOKIE, secret, { ...COOKIE_ATTRIBUTES, expires: new Date(expires) });
}

export function clearSessionCookie(reply: FastifyReply): void {
  reply.clearCookie(SESSION_COOKIE, COOKIE_ATTRIBUTES);
}

const BEARER = /^Bearer +([\x21-\x7e]+)$/i;

/** 401/1401 with the challenge that RFC 9110 section 11.6.1 asks for. */
export function unauthenticated(): RestError {
  return new RestError('AUTHENTICATION_REQUIRED', undefined, { 'www-authenticate': 'Bearer realm="ringmaster"' });
}

/**
 * The secret of a request (specification, "Authentication"): the token of its Authorization header; without that header,
 * the session cookie.
 *
 * @throws {RestError} 403 for the cookie of a request caused by a page of another site
 */
export function secretOf(request: FastifyRequest): string | undefined {
  const { authorization } = request.headers;
  return secretOfHeaders(authorization, authorization === undefined ? cookieOf(request) : undefined);
}

/**
 * The session cookie of a request.
 *
 * @throws {RestError} 403 for a request caused by a page of another site
 */
export function cookieOf(request: FastifyRequest): string | undefined {
  const cookie = request.cookies[SESSION_COOKIE];
  if (cookie !== undefined) refuseForeignOrigin(request.headers);
  return cookie;
}

/** The secret in the values of the Authorization header and of the session cookie; the request's origin is not checked. */
export function secretOfHeaders(authorization: string | undefined, cookie: string | undefined): string | undefined {
  return authorization === undefined ? cookie : BEARER.exec(authorization)?.[1];
}

/**
 * The live session of a secret.
 *
 * @throws {RestError} 401 without a live session, 429 when the address is banned
 */
export async function sessionOfSecret(iam: Iam, secret: string | undefined, ip: string): Promise<Session> {
  return (await authenticated(iam, secret, ip)).session;
}

async function authenticated(
  iam: Iam,
  secret: string | undefined,
  ip: string,
): Promise<{ readonly session: Session; readonly renewed?: boolean }> {
  if (secret === undefined || secret === '') throw unauthenticated();
  const result = await iam.authenticate(secret, ip);
  if (result.ok) return result;
  throw result.reason === 'banned' ? banned(result.retryAfterSeconds) : unauthenticated();
}

/** Hook before every request: authentication, authorisation, and existence of the path. Runs before the body is read. */
export function authenticator(
  iam: Iam,
  rate: SessionRate,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  return async (request, reply) => {
    const { config } = request.routeOptions;
    if (config.public) return;
    const session = await sessionOfRequest(iam, request, reply);
    request.session = session;
    senderKnown(request.raw);
    const seconds = rate.take(session.id);
    if (seconds > 0) throw tooOften(seconds);
    if (request.is404) throw new RestError('ENDPOINT_NOT_FOUND');
    if (config.allow) {
      const method = roleMethod(request);
      throw new RestError('METHOD_NOT_ALLOWED', { method, allow: config.allow }, { allow: config.allow.join(', ') });
    }
    if (config.everyUser) return;
    if (!iam.allows(session, roleMethod(request), rolePath(request))) throw new RestError('FORBIDDEN');
  };
}

/** By the token or the cookie; some routes use the cookie when the token is invalid (specification, "Sessions", read). */
async function sessionOfRequest(iam: Iam, request: FastifyRequest, reply: FastifyReply): Promise<Session> {
  const isEither = request.routeOptions.config.tokenOrCookie === true && request.headers.authorization !== undefined;
  try {
    const secret = secretOf(request);
    const { session, renewed } = await authenticated(iam, secret, request.ip);
    // The cookie expires with the session, so a renewed session needs a new cookie.
    const isCookie = request.headers.authorization === undefined;
    if (isCookie && renewed === true && secret !== undefined) setSessionCookie(reply, secret, session);
    return session;
  } catch (error) {
    if (!isEither || !(error instanceof RestError) || error.status !== 401) throw error;
    const cookie = cookieOf(request);
    if (cookie === undefined) throw error;
    return await sessionOfSecret(iam, cookie, request.ip);
  }
}

/** The session of a request to a route that is not public. */
export function sessionOf(request: FastifyRequest): Session {
  if (!request.session) throw unauthenticated();
  return request.session;
}
