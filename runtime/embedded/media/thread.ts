/** Entry of the media server's worker thread. */
import { preferThisThread } from '../thread/priority.ts';
import { serve } from '../thread/serve.ts';
import { MediaServer } from './media-server.ts';
import type { MediaServerOptions, MediaServerStats } from './options.ts';

// An error ends the thread.
void serve<MediaServerOptions, MediaServerStats>(async (options, run) => {
  const server = new MediaServer(options, run);
  await server.start(options);
  void preferThisThread(run);
  return {
    addresses: server.addresses,
    stats: () => server.stats(),
    works: () => server.stats().channels > 0,
    close: () => server.close(),
  };
});
