/** Starts the embedded SIP server. */
import { type EmbeddedServer, type ServerHost, startServerThread, type ThreadKind } from '../thread/server-thread.ts';
import {
  CONNECTION_LOST,
  type LostConnection,
  type SipServerChange,
  type SipServerOptions,
  type SipServerStats,
} from './options.ts';

const SIP_SERVER: ThreadKind = {
  title: 'embedded SIP server',
  name: 'embedded-sip',
  entry: new URL('./thread.ts', import.meta.url),
  // Datagrams are garbage within milliseconds. A small young generation frees them before the process grows.
  resourceLimits: { maxYoungGenerationSizeMb: 16 },
};

/**
 * Starts the embedded SIP server in a worker thread: SIP over UDP, TCP, TLS and WebSockets on one side, drachtio-server's app protocol
 * on the other, so that drachtio-srf connects to it unmodified.
 *
 * ```ts
 * const server = await startSipServer({ app: '127.0.0.1:9022', secret: 'cymru', sip: ['127.0.0.1:5060'] });
 * srf.connect({ host: '127.0.0.1', port: 9022, secret: 'cymru' });
 * ```
 *
 * @returns a handle whose `addresses` are `app`, `sip`, `tls`, `ws`, `wss` (separated by commas if there are several) and
 *   `forwarded`.
 * @throws ListenError when an address is taken or not allowed.
 * @throws RangeError when an address is not `ip:port`.
 */
export function startSipServer(
  options: SipServerOptions,
  host: Pick<ServerHost, 'atRest' | 'notice'> & {
    /** A connection that was registered over has ended: calls that come over it are lost. */
    readonly lost?: (connection: LostConnection) => void;
  } = {},
): Promise<EmbeddedServer<SipServerStats, SipServerChange>> {
  const notice: ServerHost['notice'] = (message, details) => {
    host.notice?.(message, details);
    if (message === CONNECTION_LOST) host.lost?.(details as LostConnection);
  };
  return startServerThread(SIP_SERVER, options, { ...host, notice });
}
