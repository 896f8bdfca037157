import { randomBytes } from 'node:crypto';

const TOKEN_SHAPE = /^[A-Za-z0-9_-]{43}$/;

/** The secret of a new session: 256 bits in base64url. It begins with no `-`, by which command lines know options. */
export function newSessionToken(): string {
  let token: string;
  do token = randomBytes(32).toString('base64url');
  while (token.startsWith('-'));
  return token;
}

/** Whether a text may be such a secret; those of earlier versions may begin with `-`. */
export function isTokenShaped(text: string): boolean {
  return TOKEN_SHAPE.test(text);
}
