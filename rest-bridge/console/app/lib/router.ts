/** Where the person is: `#/calls/ID?filter=x`. The address after `#` never reaches the server, so every page is one file. */
import { signal } from '@preact/signals';

export interface Route {
  /** Decoded segments. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

/** @param hash as in `location.hash` */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  return {
    path: path.split('/').filter(Boolean).map(decoded),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The address of a page, for `href`. Empty values of the query are left out. */
export function link(path: readonly string[], query: Readonly<Record<string, string>> = {}): string {
  const set = Object.entries(query).filter(([, value]) => value !== '');
  const tail = set.length === 0 ? '' : `?${new URLSearchParams(set).toString()}`;
  return `#/${path.map(encodeURIComponent).join('/')}${tail}`;
}

/** Where the person is now. */
export const route = signal<Route>(parseRoute(globalThis.location?.hash ?? ''));

/** Goes to a page; the browser's back leads back. */
export function go(path: readonly string[], query: Readonly<Record<string, string>> = {}): void {
  location.hash = link(path, query);
}

/** Changes the query of this page, as a filter is typed; the browser's back does not stop at it. */
export function setQuery(query: Readonly<Record<string, string>>): void {
  replace(route.value.path, query);
}

/** Goes to a page in place of this one. */
export function replace(path: readonly string[], query: Readonly<Record<string, string>> = {}): void {
  history.replaceState(null, '', link(path, query));
  route.value = { path, query };
}

/** Follows the address bar. */
export function followAddress(): void {
  addEventListener('hashchange', () => {
    route.value = parseRoute(location.hash);
  });
}
