import type { ServerAddress } from '../../../runtime/config/config.ts';
import { Agent } from './agent.ts';
import { type App, connectApp, type Srf } from './srf.ts';

/**
 * Connects an application that receives requests from now on.
 * @param prepare registers its routes
 */
export async function connectRoutedApp(address: ServerAddress, prepare: (srf: Srf) => void): Promise<App> {
  const app = await connectApp(address, prepare);
  // The server gets the routes after accepting the secret; a request of the application follows them.
  const agent = await Agent.open();
  const sent = app.srf.request(agent.uri, { method: 'OPTIONS' });
  (await agent.request('OPTIONS')).respond(200);
  await sent;
  await agent.close();
  return app;
}
