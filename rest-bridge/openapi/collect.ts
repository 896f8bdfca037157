/** Collects the routes for the documentation. */
import type { RouteOptions } from 'fastify';
import type { App } from '../app.ts';
import { NATIVE_SUFFIXES } from '../http/methods.ts';
import { routeName } from '../route-names.ts';

/** A registered route, for the documentation. */
export interface DocumentedRoute {
  /** Path below the base, with parameters in braces, and `!suffix` for a custom method. */
  readonly path: string;
  /** The native method, in upper case. */
  readonly method: string;
  /** The method that the suffix stands for. */
  readonly custom: string | undefined;
  readonly schema: NonNullable<RouteOptions['schema']>;
  readonly isPublic: boolean;
}

/** Collects the routes added to `app` from now on, without HEAD and OPTIONS. */
export function collectRoutes(app: App): readonly DocumentedRoute[] {
  const routes: DocumentedRoute[] = [];
  app.addHook('onRoute', ({ url, method, schema = {}, config }) => {
    if (schema.hide === true) return;
    const { path, method: custom } = routeName(url);
    // The suffix of a native method: that method is documented.
    if (custom !== undefined && NATIVE_SUFFIXES.has(custom.toLowerCase())) return;
    const suffix = custom === undefined ? '' : `!${custom.toLowerCase()}`;
    const documented = path.replaceAll(/:([A-Za-z]+)/g, '{$1}') + suffix;
    for (const name of [method].flat()) {
      if (name === 'HEAD' || name === 'OPTIONS') continue;
      routes.push({ path: documented, method: name, custom, schema, isPublic: config?.public === true });
    }
  });
  return routes;
}
