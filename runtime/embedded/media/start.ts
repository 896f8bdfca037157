import { type EmbeddedServer, type ServerHost, startServerThread, type ThreadKind } from '../thread/server-thread.ts';
import type { MediaServerOptions, MediaServerStats } from './options.ts';

const MEDIA_SERVER: ThreadKind = {
  title: 'embedded media server',
  name: 'embedded-media',
  entry: new URL('./thread.ts', import.meta.url),
};

/**
 * Starts the embedded media server in a worker thread. It has FreeSWITCH's event socket and SIP side, for
 * drachtio-fsmrf and other event socket clients.
 *
 * @param options addresses, ports and directories; see {@link MediaServerOptions}
 * @param host services for the thread; without `run` it has no speech and ordinary priority
 * @returns the running server; its `addresses` are `eventSocket` and `sip`
 * @throws ListenError when an address is in use or not this machine's
 * @throws RangeError with the name MediaServerOptionError when an option is invalid
 */
export function startMediaServer(
  options: MediaServerOptions,
  host: ServerHost = {},
): Promise<EmbeddedServer<MediaServerStats>> {
  const { direct } = options;
  return startServerThread(MEDIA_SERVER, options, host, direct === undefined ? [] : [direct]);
}
