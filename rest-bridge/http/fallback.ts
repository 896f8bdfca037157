/** Native methods as suffixes of POST. */
import type { IncomingMessage } from 'node:http';
import { NATIVE_SUFFIXES } from './methods.ts';

/** At the end of the path; a query may end in what looks like it. */
const SUFFIX = /^([^?#]*)(?:!|%21)([a-z]+)(?=[?#]|$)/;
const headFallbacks = new WeakSet<IncomingMessage>();

/**
 * Turns `POST <path>!put` into `PUT <path>`; the same for patch, delete and head (specification, "Generic REST
 * operations", rule 3). For Fastify's `rewriteUrl`. Suffixes of custom methods stay: they are routes of their own.
 */
export function rewriteFallback(request: IncomingMessage): string {
  const url = request.url ?? '/';
  if (request.method !== 'POST') return url;
  const match = SUFFIX.exec(url);
  const [whole = '', path = '', suffix] = match ?? [];
  if (suffix === undefined || !NATIVE_SUFFIXES.has(suffix)) return url;
  // A HEAD answered on a POST connection would announce a body that never comes: it runs as GET and loses the body.
  if (suffix === 'head') headFallbacks.add(request);
  request.method = suffix === 'head' ? 'GET' : suffix.toUpperCase();
  return path + url.slice(whole.length);
}

/** True when the answer to a request must be sent without its body. */
export function isHeadFallback(request: IncomingMessage): boolean {
  return headFallbacks.has(request);
}
