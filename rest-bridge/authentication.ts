import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Authentication, Iam, Session } from '../runtime/iam/index.ts';
import type { RequestHook } from './app.ts';
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
  return authenticated(await authentication(iam, secret, ip)).session;
}

/** The live session of a secret; undefined without one. It counts as used. */
export async function liveSession(iam: Iam, secret: string, ip: string): Promise<Session | undefined> {
  const result = await iam.authenticate(secret, ip);
  return result.ok ? result.session : undefined;
}

/** @throws {RestError} 401 without a secret */
function authentication(iam: Iam, secret: string | undefined, ip: string): ReturnType<Iam['authenticate']> {
  if (secret === undefined || secret === '') throw unauthenticated();
  return iam.authenticate(secret, ip);
}

/** @throws {RestError} 401 without a live session, 429 when the address is banned */
function authenticated(result: Authentication): Extract<Authentication, { readonly ok: true }> {
  if (result.ok) return result;
  throw result.reason === 'banned' ? banned(result.retryAfterSeconds) : unauthenticated();
}

/**
 * Hook before every request: authentication, authorisation, and existence of the path. Runs before the body is read.
 * @param unserved the error for a request without a route
 */
export function authenticator(
  iam: Iam,
  rate: SessionRate,
  unserved: (request: FastifyRequest) => RestError,
): RequestHook {
  const admit = (request: FastifyRequest, session: Session): void => {
    const { config } = request.routeOptions;
    request.session = session;
    senderKnown(request.raw);
    const seconds = rate.take(session.id);
    if (seconds > 0) throw tooOften(seconds);
    if (request.is404) throw unserved(request);
    if (config.everyUser) return;
    if (!iam.allows(session, roleMethod(request), rolePath(request))) throw new RestError('FORBIDDEN');
  };
  return (request, reply, done) => {
    if (!request.routeOptions.config.public) {
      const session = sessionOfRequest(iam, request, reply);
      if (session instanceof Promise) return session.then((found) => admit(request, found));
      admit(request, session);
    }
    done();
    return undefined;
  };
}

/** By the token or the cookie; some routes use the cookie when the token is invalid (specification, "Sessions", read). */
function sessionOfRequest(iam: Iam, request: FastifyRequest, reply: FastifyReply): Session | Promise<Session> {
  const { authorization } = request.headers;
  if (request.routeOptions.config.tokenOrCookie === true && authorization !== undefined) {
    return sessionOfEither(iam, request);
  }
  const secret = secretOf(request);
  const admitted = (result: Authentication): Session => {
    const { session, renewed } = authenticated(result);
    // The cookie expires with the session, so a renewed session needs a new cookie.
    if (authorization === undefined && renewed === true && secret !== undefined) {
      setSessionCookie(reply, secret, session);
    }
    return session;
  };
  const result = authentication(iam, secret, request.ip);
  return result instanceof Promise ? result.then(admitted) : admitted(result);
}

/** By the token; by the cookie when the token is invalid. */
async function sessionOfEither(iam: Iam, request: FastifyRequest): Promise<Session> {
  try {
    return await sessionOfSecret(iam, secretOf(request), request.ip);
  } catch (error) {
    if (!(error instanceof RestError) || error.status !== 401) throw error;
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
