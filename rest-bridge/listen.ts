/** Opens the REST service. */
import type { App } from './app.ts';
import { listenFurther, portOf } from './http/further-listeners.ts';

/**
 * @param hosts at least one address
 * @returns `http://host:port` of the first one
 * @throws Error of the system for an address that cannot be used
 */
export async function listenOn(app: App, hosts: readonly string[], port: number): Promise<string> {
  const [host = '127.0.0.1', ...others] = hosts;
  const address = await app.listen({ host, port });
  const close = await listenFurther(app.server, others, portOf(app.server));
  closers.set(app, close);
  return address;
}

/** Closes the further listeners of a server, if it has any. */
export function closeFurther(app: App): void {
  closers.get(app)?.();
}

const closers = new WeakMap<App, () => void>();
