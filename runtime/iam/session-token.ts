/** Secrets of sessions. */
import { randomBytes } from 'node:crypto';

const TOKEN_SHAPE = /^[A-Za-z0-9_-]{43}$/;

/** A new session's secret: 256 bits in base64url. It never begins with `-`, which command lines take for an option. */
export function newSessionToken(): string {
  let token: string;
  do token = randomBytes(32).toString('base64url');
  while (token.startsWith('-'));
  return token;
}

/** True for a well-formed secret; those of earlier versions may begin with `-`. */
export function isTokenShaped(text: string): boolean {
  return TOKEN_SHAPE.test(text);
}
