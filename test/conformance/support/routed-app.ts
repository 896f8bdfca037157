import type { ServerAddress } from '../../../runtime/config/config.ts';
import { Agent } from './agent.ts';
import { type App, connectApp, type Srf } from './srf.ts';

/**
 * Connects an application that gets its requests from now on.
 * @param prepare registers its routes
 */
export async function connectRoutedApp(address: ServerAddress, prepare: (srf: Srf) => void): Promise<App> {
  const app = await connectApp(address, prepare);
  // The server is told the routes after it accepted the secret; a request of the application comes after them.
  const agent = await Agent.open();
  const sent = app.srf.request(agent.uri, { method: 'OPTIONS' });
  (await agent.request('OPTIONS')).respond(200);
  await sent;
  await agent.close();
  return app;
}
