import type { RouteOptions } from 'fastify';
import type { App } from '../app.ts';
import { NATIVE_SUFFIXES } from '../http/methods.ts';
import { routeName } from '../route-names.ts';

/** A registered route in terms of the documentation. */
export interface DocumentedRoute {
  /** Below the base, parameters in braces, with `!suffix` where the method is a custom one. */
  readonly path: string;
  /** Native, in upper case. */
  readonly method: string;
  /** The method that the suffix stands for. */
  readonly custom: string | undefined;
  readonly schema: NonNullable<RouteOptions['schema']>;
  readonly isPublic: boolean;
}

/** Remembers the routes of `app` from now on. Those that only refuse a method are left out, and HEAD goes with GET. */
export function collectRoutes(app: App): readonly DocumentedRoute[] {
  const routes: DocumentedRoute[] = [];
  app.addHook('onRoute', ({ url, method, schema = {}, config }) => {
    if (config?.allow !== undefined || schema.hide === true) return;
    const { path, method: custom } = routeName(url);
    // It is served as the native method.
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
