/** The Content-Security-Policy of the pages that a node serves. */

/** What may stand in a Host header. */
const HOST = /^[\w.-]+(:\d+)?$|^\[[\da-f:]+\](:\d+)?$/i;

/**
 * Scripts, styles and connections of this server only, none of them inline.
 *
 * @param host of the request
 * @param sources further directives with what they allow
 */
export function sitePolicy(host: string | undefined, sources: Readonly<Record<string, string>>): string {
  // Not every browser counts a WebSocket of the same host as 'self'.
  const sockets = host !== undefined && HOST.test(host) ? ` ws://${host} wss://${host}` : '';
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ...Object.entries(sources).map(([directive, allowed]) => `${directive} ${allowed}`),
    `connect-src 'self'${sockets}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
}
