/** Entry of the SIP server's worker thread. */
import { serve } from '../thread/serve.ts';
import type { SipServerOptions, SipServerStats } from './options.ts';
import { EmbeddedSipServer } from './server.ts';

await serve<SipServerOptions, SipServerStats>(async (options) => {
  const server = await EmbeddedSipServer.open(options);
  return {
    addresses: server.addresses,
    stats: () => server.stats,
    works: () => server.stats.dialogs > 0,
    close: () => server.close(),
  };
});
