/** Where the HTTP server passes SIP WebSockets on to. */
import type { SipWebSockets, SipWebSocketTarget } from '../../rest-bridge/index.ts';
import type { Config } from '../config/index.ts';
import { FORWARDED_HEADER } from '../embedded/index.ts';
import type { SipLinks } from '../signalling/index.ts';
import type { ForwardedWebSockets } from './servers.ts';

/**
 * The embedded SIP server gets them at a listener of its own, with the address of the phone. A real one gets them at its
 * contact for the same kind of WebSocket, and takes the node for the phone's address.
 * @param forwarded that listener; undefined with real SIP servers
 */
export function sipWebSockets(
  config: Pick<Config, 'webSocket'>,
  links: Pick<SipLinks, 'webSocket'>,
  forwarded: ForwardedWebSockets | undefined,
): SipWebSockets {
  return {
    origins: config.webSocket.origins,
    target: ({ secure, address, port }): SipWebSocketTarget | undefined => {
      if (forwarded !== undefined) {
        const phone = `${forwarded.secret} ${secure ? 'wss' : 'ws'} ${address} ${port}`;
        return { host: '127.0.0.1', port: forwarded.port, tls: false, headers: { [FORWARDED_HEADER]: phone } };
      }
      const real = links.webSocket(secure);
      return real && { ...real, headers: {} };
    },
  };
}
