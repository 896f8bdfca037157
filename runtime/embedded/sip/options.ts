import type { ParseLimits, TcpLimits, TimerValues } from '../stack/index.ts';

/** How to start the embedded SIP server. */
export interface SipServerOptions {
  /** `ip:port` of the app protocol, to which drachtio-srf connects. Port 0 takes a free one. */
  readonly app: string;
  /** What applications must authenticate with. */
  readonly secret: string;
  /** `ip:port` of each SIP address, UDP and TCP. Port 0 takes a number that is free for both. */
  readonly sip: readonly string[];
  /** Whether `cdr:attempt`, `cdr:start` and `cdr:stop` go to applications that ask for them. Default true. */
  readonly cdrs?: boolean;
  /** Time in which an application must authenticate, ms; default 10 s. */
  readonly authenticateWithin?: number;
  /** RFC 3261 timers, for tests. */
  readonly timerValues?: TimerValues;
  readonly limits?: ParseLimits;
  readonly tcpLimits?: TcpLimits;
}

/** What is alive in the server. All but `apps` and the listening `sockets` return to zero when no call is up. */
export interface SipServerStats {
  /** Dialogs, early ones included. */
  readonly dialogs: number;
  /** SIP transactions, those that only absorb retransmissions included. */
  readonly transactions: number;
  /** SIP sockets, the listening ones included. */
  readonly sockets: number;
  readonly timers: number;
  /** Applications connected. */
  readonly apps: number;
  /** Requests in either direction that have no final response, and 2xx without ACK. */
  readonly pending: number;
}

/**
 * Splits `ip:port` or `[ipv6]:port`.
 * @throws RangeError naming the setting when it is neither.
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
