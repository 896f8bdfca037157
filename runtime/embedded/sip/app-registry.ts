import type { AppConnection } from './app-connection.ts';

interface Route {
  readonly apps: AppConnection[];
  last: number;
}

/** The connected applications, and the verbs that each takes. */
export class AppRegistry {
  readonly #apps = new Set<AppConnection>();
  readonly #routes = new Map<string, Route>();

  get size(): number {
    return this.#apps.size;
  }

  all(): Iterable<AppConnection> {
    return this.#apps;
  }

  add(app: AppConnection): void {
    this.#apps.add(app);
  }

  remove(app: AppConnection): void {
    this.#apps.delete(app);
    for (const [verb, route] of this.#routes) this.#leave(verb, route, app);
  }

  /** Routes requests of a method, or a kind of CDR, to the application. Verbs are in lower case. */
  addRoute(app: AppConnection, verb: string): void {
    const route = this.#routes.get(verb) ?? { apps: [], last: 0 };
    this.#routes.set(verb, route);
    if (!route.apps.includes(app)) route.apps.push(app);
  }

  removeRoute(app: AppConnection, verb: string): void {
    const route = this.#routes.get(verb);
    if (route !== undefined) this.#leave(verb, route, app);
  }

  /** The next application for a verb; applications with the same route take turns. */
  pick(verb: string): AppConnection | undefined {
    const route = this.#routes.get(verb);
    if (route === undefined) return undefined;
    route.last = (route.last + 1) % route.apps.length;
    return route.apps[route.last];
  }

  /**
   * The application that handles a dialog: its own or, when that connection has closed, one with the same tags (the
   * same application after a restart).
   */
  successor(app: AppConnection | undefined): AppConnection | undefined {
    if (app === undefined || app.open) return app;
    const tags = app.tags.join(',');
    for (const other of this.#apps)
      if (other.authenticated && other.open && other.tags.join(',') === tags) return other;
    return undefined;
  }

  #leave(verb: string, route: Route, app: AppConnection): void {
    const at = route.apps.indexOf(app);
    if (at >= 0) route.apps.splice(at, 1);
    if (route.apps.length === 0) this.#routes.delete(verb);
  }
}
