/** Options and figures of the SIP server. */
import type { Certificate, ParseLimits, TcpLimits, TimerValues, Trust, WebSocketRules } from '../stack/index.ts';

/** Options of the embedded SIP server. */
export interface SipServerOptions {
  /** `ip:port` of the app protocol, to which drachtio-srf connects. Port 0 takes a free port. */
  readonly app: string;
  /** Secret that applications authenticate with. */
  readonly secret: string;
  /** `ip:port` of each SIP address, for UDP and TCP. Port 0 takes a port that is free for both. */
  readonly sip: readonly string[];
  /** Certificate for `tls` and `wss`, which are left out without it. */
  readonly certificate?: Certificate;
  /** For certificates of called TLS servers. Default: the authorities of Node and of the system. */
  readonly trust?: Trust;
  /** `ip:port` of each address for TLS. */
  readonly tls?: readonly string[];
  /** `ip:port` of each address for WebSockets without TLS. */
  readonly ws?: readonly string[];
  /** `ip:port` of each address for WebSockets with TLS. */
  readonly wss?: readonly string[];
  /**
   * Public IP addresses, at most one a family, at which a NAT passes packets on to this machine. Peers beyond this machine's own networks
   * find them in Via, Contact and Record-Route.
   */
  readonly publicAddresses?: readonly string[];
  /**
   * Opens a further listener on 127.0.0.1 where no address of `sip` is IPv4: drachtio-fsmrf calls media servers by IPv4. Applications are
   * not told of it.
   */
  readonly towardsMedia?: boolean;
  /** Allowed origins of pages that connect to `ws` and `wss`, beside those of the host itself. */
  readonly origins?: readonly string[];
  /** Opens a further WebSocket listener on 127.0.0.1, for an HTTP server that passes on the connections of phones. */
  readonly forwarded?: WebSocketRules['forwarded'];
  /** Memory of the `CallGate` through which the application refuses new calls; without it all come. */
  readonly gate?: SharedArrayBuffer;
  /** Whether applications can get `cdr:attempt`, `cdr:start` and `cdr:stop`. Default true. */
  readonly cdrs?: boolean;
  /** Time for an application to authenticate, ms. Default 10,000. */
  readonly authenticateWithin?: number;
  /** RFC 3261 timers, for tests. */
  readonly timerValues?: TimerValues;
  readonly limits?: ParseLimits;
  readonly tcpLimits?: TcpLimits;
}

/** The notice of a {@link LostConnection}. */
export const CONNECTION_LOST = 'connection of a registration lost';

/** A connection that this side registered over, and that has ended. */
export interface LostConnection {
  readonly transport: string;
  /** IP address and port of the far end. */
  readonly address: string;
  readonly port: number;
}

/** Changes of a running server, for connections from now on; open ones stay. */
export interface SipServerChange {
  readonly certificate?: Certificate;
  readonly trust?: Trust;
}

/** Live objects of the server. Without calls all are zero but `apps` and the listening `sockets`. */
export interface SipServerStats {
  /** Dialogs, early ones included. */
  readonly dialogs: number;
  /** SIP transactions, including those that only absorb retransmissions. */
  readonly transactions: number;
  /** SIP sockets, the listening ones included. */
  readonly sockets: number;
  readonly timers: number;
  /** Applications connected. */
  readonly apps: number;
  /** Requests in either direction without a final response, and 2xx without ACK. */
  readonly pending: number;
}

/**
 * Splits `ip:port` or `[ipv6]:port`.
 * @throws RangeError with the name of the setting when the text is neither.
 */
export function parseAddress(text: string, setting: string): { host: string; port: number } {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:\s]+)):(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host === undefined || !(port <= 65_535)) {
    throw new RangeError(`${setting}: expected ip:port, found ${JSON.stringify(text)}`);
  }
  return { host, port };
}
