/** Protection of the session cookie against requests from pages of other sites. */
import type { IncomingHttpHeaders } from 'node:http';
import { RestError } from './errors.ts';

/**
 * Refuses a request caused by a page of another site (cross-site request forgery).
 *
 * Only the browser can set `Sec-Fetch-Site` (W3C Fetch Metadata). Its value `same-origin` precedes `Origin`, because a proxy
 * may have changed Host. Otherwise the host of `Origin` (RFC 6454 section 7) must be that of Host; the scheme may differ,
 * because a proxy may terminate TLS. Programs send neither header.
 *
 * @throws {RestError} 403/1401 with `error_details: {field, reason}`
 */
export function refuseForeignOrigin(headers: IncomingHttpHeaders): void {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin') return;
  if (site === 'cross-site') throw foreign('Sec-Fetch-Site', 'the request comes from a page of another site');
  if (origin !== undefined && !isOf(host, origin)) {
    throw foreign('Origin', `${origin} is not the host of this service, ${host ?? 'which the request does not name'}`);
  }
}

function isOf(host: string | undefined, origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, host: wanted } = new URL(origin);
  // The same form for both: lower case, without the port that the scheme implies.
  const own = `${protocol}//${host}`;
  return wanted !== '' && URL.canParse(own) && new URL(own).host === wanted;
}

function foreign(field: string, why: string): RestError {
  return new RestError('CROSS_SITE', { field, reason: `${why}; send a token as Authorization: Bearer instead` });
}
