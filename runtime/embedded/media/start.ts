import { type EmbeddedServer, type ServerHost, startServerThread, type ThreadKind } from '../thread/server-thread.ts';
import type { MediaServerOptions, MediaServerStats } from './options.ts';

const MEDIA_SERVER: ThreadKind = {
  title: 'embedded media server',
  name: 'embedded-media',
  entry: new URL('./thread.ts', import.meta.url),
};

/**
 * Starts the embedded media server in a worker thread: event socket and SIP as FreeSWITCH has them, for drachtio-fsmrf
 * and other event socket clients on machines without FreeSWITCH.
 *
 * @param options addresses, ports and directories; see {@link MediaServerOptions}
 * @param host without its `run` there is no speech, and the thread keeps its ordinary priority
 * @returns the running server; its `addresses` are `eventSocket` and `sip`
 * @throws ListenError when an address is in use or not this machine's
 * @throws RangeError named MediaServerOptionError when an option cannot be used
 */
export function startMediaServer(
  options: MediaServerOptions,
  host: ServerHost = {},
): Promise<EmbeddedServer<MediaServerStats>> {
  return startServerThread(MEDIA_SERVER, options, host);
}
