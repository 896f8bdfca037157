/** Types of the server and its routes. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { Logger } from 'pino';
import type { Session } from '../runtime/iam/index.ts';
import type { SecureFront } from './http/secure-front.ts';

/** The server for route modules: the schemas of a route type its handler. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  Logger,
  TypeBoxTypeProvider
>;

/**
 * A hook that runs before the body is read. It calls `done` when the request may go on, throws the refusal, or returns a
 * promise in place of both: a promise costs a turn, which the usual request should not wait for.
 */
export type RequestHook = (request: FastifyRequest, reply: FastifyReply, done: () => void) => Promise<void> | undefined;

export const BASE_PATH = '/rest/v1';
/** Most characters of a parameter in a path. */
export const MAX_PARAMETER = 512;

declare module 'fastify' {
  /** Additions of a route for the documentation. */
  interface FastifySchema {
    summary?: string;
    description?: string;
    /** Left out of the documentation. */
    hide?: boolean;
    /** Content types of a body that is a file. */
    consumes?: readonly string[];
    /** Content types of an answer that is a file. */
    produces?: readonly string[];
  }
  interface FastifyInstance {
    /** The same service over TLS, where there is a certificate. It is closed with this one. */
    readonly secureFront: SecureFront | undefined;
  }
  interface FastifyRequest {
    /** Set by the authentication of every route that is not public. */
    session: Session | null;
  }
  interface FastifyContextConfig {
    /** Needs no session. */
    public?: boolean;
    /** Needs a session but no role: open to every user. */
    everyUser?: boolean;
    /** An invalid token is ignored, and the cookie counts. */
    tokenOrCookie?: boolean;
  }
}
