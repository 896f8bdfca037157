/** Paths and methods of routes. */
import type { FastifyRequest } from 'fastify';
import { BASE_PATH } from './app.ts';

/** An identifier in a path: up to the `!` of a method suffix. */
export const ID = ':id(^[^!]+)';

const PARAMETER = /:([A-Za-z]+)(?:\([^)]*\))?/g;

export interface RouteName {
  /** The path below the base, without a method suffix; parameters as `:name`. */
  readonly path: string;
  /** The custom method, or undefined for a native one. */
  readonly method: string | undefined;
}

const names = new Map<string, RouteName>();

/** Splits a route's pattern: `/rest/v1/uc/calls/:id(^[^!]+)!refer` is REFER on `/uc/calls/:id`. */
export function routeName(pattern: string): RouteName {
  let name = names.get(pattern);
  if (!name) {
    // The regular expression of a parameter may hold a `!` too.
    const plain = pattern.replaceAll(PARAMETER, ':$1');
    const [path = '', suffix] = plain.split('!');
    name = { path: path.startsWith(BASE_PATH) ? path.slice(BASE_PATH.length) : path, method: suffix?.toUpperCase() };
    names.set(pattern, name);
  }
  return name;
}

/** The effective method: LOOKUP for `LOOKUP /x` and for `POST /x!lookup`. */
export function roleMethod(request: FastifyRequest): string {
  const { url: pattern } = request.routeOptions;
  const { '*': rest = pattern === undefined ? request.url.split('?', 1)[0] : undefined } = parametersOf(request);
  if (rest !== undefined && request.method === 'POST') {
    const custom = splitSuffix(rest)?.suffix;
    if (custom !== undefined) return custom.toUpperCase();
  }
  return (pattern === undefined ? undefined : routeName(pattern).method) ?? request.method;
}

/** Splits `/x!lookup`; undefined without a suffix. */
export function splitSuffix(path: string): { readonly before: string; readonly suffix: string } | undefined {
  const [, before, suffix] = /^(.*)(?:!|%21)([a-z_]+)$/.exec(path) ?? [];
  return before === undefined || suffix === undefined ? undefined : { before, suffix };
}

/**
 * The path for role checks, e.g. `/uc/calls/17`. It is derived from the serving route, so that no spelling of a URL bypasses
 * a role.
 */
export function rolePath(request: FastifyRequest): string {
  const pattern = request.routeOptions.url;
  if (pattern === undefined) return '';
  const { path } = routeName(pattern);
  if (!path.includes(':')) return path;
  const parameters = parametersOf(request);
  return path.replaceAll(PARAMETER, (_whole, name: string) => encodeURIComponent(parameters[name] ?? ''));
}

function parametersOf(request: FastifyRequest): Record<string, string | undefined> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the router fills it with text
  return (request.params ?? {}) as Record<string, string | undefined>;
}
