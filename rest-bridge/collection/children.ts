import { Type } from 'typebox';
import type { App } from '../app.ts';
import { routeName } from '../route-names.ts';

/**
 * Collects the routes added to `app` from now on. The returned function, called after the last one, adds
 * `GET <section>/` for every section of the path tree: the names one level below it (specification, "Generic REST
 * operations", rule 6).
 */
export function childLists(app: App): () => void {
  const sections = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url }) => {
    const { path, method } = routeName(url);
    if (method !== undefined) return;
    const names = path.split('/').filter(Boolean);
    names.forEach((name, index) => {
      if (name.startsWith(':') || name === '*') return;
      const section = names.slice(0, index).join('/');
      sections.set(section, (sections.get(section) ?? new Set()).add(name));
    });
  });
  return () => {
    // The routes added here add sections of their own, which must not be visited.
    for (const [section, children] of Array.from(sections)) {
      // Below an entity the path has a parameter; its children are part of the entity's documentation.
      if (section.includes(':')) continue;
      const names = [...children].toSorted();
      app.get(
        section === '' ? '/' : `/${section}/`,
        {
          config: { everyUser: true },
          prefixTrailingSlash: 'slash',
          schema: { response: { 200: Type.Array(Type.String()) } },
        },
        async () => names,
      );
    }
  };
}
