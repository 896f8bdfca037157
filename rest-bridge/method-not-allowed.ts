import type { App } from './app.ts';
import { RestError } from './errors.ts';
import { routeName } from './route-names.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/**
 * Collects the routes added to `app` from now on. The returned function, called after the last one, adds routes that answer
 * 405/1406 with Allow for every other method of the same paths, custom ones included.
 */
export function methodNotAllowed(app: App): () => void {
  /** Methods by pattern without suffix, and custom methods of the same. */
  const native = new Map<string, Set<string>>();
  const custom = new Map<string, Set<string>>();
  app.addHook('onRoute', (route) => {
    if (route.config?.allow || route.url.endsWith('*')) return;
    const { method } = routeName(route.url);
    const base = method === undefined ? route.url : route.url.slice(0, -method.length - 1);
    const table = method === undefined ? native : custom;
    const methods = table.get(base) ?? new Set();
    table.set(base, methods);
    for (const name of [route.method].flat()) methods.add(method ?? name);
  });

  const answer = (method: string[], url: string, allow: readonly string[]) =>
    app.route({
      method,
      url: url.slice(app.prefix.length),
      prefixTrailingSlash: 'slash',
      config: { allow },
      // The authentication answers before; it does not on public routes.
      handler: (request) => {
        throw new RestError('METHOD_NOT_ALLOWED', { method: request.method, allow }, { allow: allow.join(', ') });
      },
    });

  return () => {
    for (const base of new Set([...native.keys(), ...custom.keys()])) {
      const natives = native.get(base) ?? new Set();
      const customs = custom.get(base) ?? new Set();
      const allow = [...new Set([...natives, ...customs])];
      answer(
        METHODS.filter((method) => !natives.has(method)),
        base,
        allow,
      );
      for (const name of customs)
        answer(
          METHODS.filter((method) => method !== 'POST'),
          `${base}!${name.toLowerCase()}`,
          allow,
        );
      answer(['POST'], `${base}!:suffix(^[a-z_]+)`, allow);
    }
  };
}
