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
  // At once: a click of the next moment counts on this page.
  route.value = parseRoute(location.hash);
}

/** Changes the query of this page, as a filter is typed; the browser's back does not stop at it. */
export function setQuery(query: Readonly<Record<string, string>>): void {
  const { path } = route.value;
  history.replaceState(history.state, '', link(path, query));
  route.value = { path, query };
}

/** What is open over this page, as `?open=NAME`: a dialog. */
export function openOver(): string | undefined {
  return route.value.query['open'];
}

/** Opens a dialog over this page. The browser's back closes it. */
export function over(name: string): void {
  const { path, query } = route.value;
  const added = { ...query, open: name };
  history.pushState(OVER, '', link(path, added));
  route.value = { path, query: added };
}

/** Closes the dialog over this page. */
export function closeOver(): void {
  const { path, query } = route.value;
  const { open: _open, ...rest } = query;
  if ((history.state as typeof OVER | null)?.over !== true) return setQuery(rest);
  route.value = { path, query: rest };
  history.back();
}

/** Of an entry of the browser's history that was made by opening a dialog: the one before it is the page without the dialog. */
const OVER = { over: true };

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
