import type { FastifyRequest } from 'fastify';
import findMyWay from 'find-my-way';
import { type App, MAX_PARAMETER } from './app.ts';
import { RestError } from './errors.ts';
import { roleMethod, routeName, splitSuffix } from './route-names.ts';

interface Path {
  readonly native: Set<string>;
  /** Custom methods. */
  readonly custom: Set<string>;
}

/**
 * Collects the routes added to `app` from now on.
 * @returns the error for a request that no route serves: 405/1406 with Allow where its path has other methods, else 404/1401.
 * Nothing is made for it before the first such request
 */
export function unservedRequests(app: App): (request: FastifyRequest) => RestError {
  /** By pattern without the suffix of a custom method. */
  const paths = new Map<string, Path>();
  app.addHook('onRoute', (route) => {
    if (route.url.endsWith('*')) return;
    const { method } = routeName(route.url);
    const base = method === undefined ? route.url : route.url.slice(0, -method.length - 1);
    const path = paths.get(base) ?? { native: new Set(), custom: new Set() };
    paths.set(base, path);
    for (const name of [route.method].flat()) (method === undefined ? path.native : path.custom).add(method ?? name);
  });

  let router: findMyWay.Instance<findMyWay.HTTPVersion.V1> | undefined;
  const find = (url: string): Path | undefined => {
    if (router === undefined) {
      router = findMyWay({ maxParamLength: MAX_PARAMETER });
      for (const [pattern, path] of paths) router.on('GET', pattern, () => undefined, path);
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store of a route above
    return (router.find('GET', url)?.store ?? undefined) as Path | undefined;
  };

  return (request) => {
    const [url = ''] = request.url.split('?', 1);
    const split = splitSuffix(url);
    const below = split && find(split.before);
    const isCustom = split && (request.method === 'POST' || below?.custom.has(split.suffix.toUpperCase()));
    const known = (isCustom ? below : undefined) ?? find(url);
    if (known === undefined) return new RestError('ENDPOINT_NOT_FOUND');
    const allow = [...new Set([...known.native, ...known.custom])];
    return new RestError('METHOD_NOT_ALLOWED', { method: roleMethod(request), allow }, { allow: allow.join(', ') });
  };
}
