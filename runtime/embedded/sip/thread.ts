/** Entry of the SIP server's worker thread. */
import { serve } from '../thread/serve.ts';
import { CONNECTION_LOST, type SipServerChange, type SipServerOptions, type SipServerStats } from './options.ts';
import { EmbeddedSipServer } from './server.ts';

// An error ends the thread.
void serve<SipServerOptions, SipServerStats, SipServerChange>(async (options, _run, notice) => {
  const server = await EmbeddedSipServer.open(options, undefined, {
    refused: (refused) => notice('SIP connection refused', refused),
    lost: (lost) => notice(CONNECTION_LOST, lost),
  });
  return {
    addresses: server.addresses,
    stats: () => server.stats,
    works: () => server.stats.dialogs > 0,
    reconfigure: (change) => server.reconfigure(change),
    close: () => server.close(),
  };
});
