/** Entry of the SIP server's worker thread. */
import { serve } from '../thread/serve.ts';
import type { SipServerChange, SipServerOptions, SipServerStats } from './options.ts';
import { EmbeddedSipServer } from './server.ts';

await serve<SipServerOptions, SipServerStats, SipServerChange>(async (options, _run, notice) => {
  const server = await EmbeddedSipServer.open(options, undefined, (refused) =>
    notice('SIP connection refused', refused),
  );
  return {
    addresses: server.addresses,
    stats: () => server.stats,
    works: () => server.stats.dialogs > 0,
    reconfigure: (change) => server.reconfigure(change),
    close: () => server.close(),
  };
});
