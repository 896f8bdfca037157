/** Options and figures of the media server. */
import type { MessagePort } from 'node:worker_threads';

/** Options of the embedded media server. */
export interface MediaServerOptions {
  /** `ip:port` of the inbound event socket. Port 0 takes a free port. */
  readonly eventSocket: string;
  /** Password of event socket clients. */
  readonly password: string;
  /** IPv4 `ip:port` of the SIP profile, for UDP and TCP: drachtio-fsmrf calls no other. Media uses the same address unless `rtpHosts` is set. */
  readonly media: string;
  /** Addresses of media, IPv4 and IPv6; `0.0.0.0` and `::` stand for all of their family. */
  readonly rtpHosts?: readonly string[];
  /** Public addresses, at most one a family, at which a NAT passes packets on to this machine. */
  readonly publicAddresses?: readonly string[];
  /**
   * Addresses that calls are accepted from, or `any`. A caller chooses the program that controls the call, and this
   * program can command the server. Default: this machine's own addresses.
   */
  readonly callers?: readonly string[];
  /** Name of the SIP profile, `drachtio_mrf` for drachtio-fsmrf. */
  readonly profile: string;
  /** First and last RTP port, inclusive. Each call takes an even port and the one above. */
  readonly rtpPorts: { readonly from: number; readonly to: number };
  /** Folder of sounds with relative names. */
  readonly sounds: string;
  /** Folder of recordings with relative names. */
  readonly recordings: string;
  /** `MediaAgent.port` of a program in the same process, which calls without SIP. */
  readonly direct?: MessagePort;
}

/** Live objects of a media server, and the punctuality of its media. */
export interface MediaServerStats {
  readonly channels: number;
  readonly conferences: number;
  /** RTP sockets, each of which has an RTCP socket too. */
  readonly rtpSockets: number;
  /** Event socket connections, inbound and outbound. */
  readonly eventSockets: number;
  readonly sipDialogs: number;
  readonly sipTransactions: number;
  readonly timers: number;
  readonly media: {
    readonly packetsSent: number;
    /** Packets sent more than 10 ms after their due time. */
    readonly packetsLate: number;
    readonly maxLatenessMs: number;
  };
}

/** An option is invalid. */
export class MediaServerOptionError extends RangeError {
  override readonly name = 'MediaServerOptionError';
  readonly field: string;
  readonly found: string;
  constructor(field: string, found: string, expected: string) {
    super(`media server option ${field}: expected ${expected}, found ${JSON.stringify(found)}`);
    this.field = field;
    this.found = found;
  }
}

/** Reads `ip:port` of an option. @throws MediaServerOptionError */
export function readAddress(field: string, text: string): { host: string; port: number } {
  const match = /^(\d{1,3}(?:\.\d{1,3}){3}):(\d{1,5})$/.exec(text);
  const port = Number(match?.[2]);
  if (match === null || port > 65_535) throw new MediaServerOptionError(field, text, 'IPv4 address and port, ip:port');
  return { host: match[1] as string, port };
}
