/** What a media server is started with. */
export interface MediaServerOptions {
  /** `ip:port` of the inbound event socket; port 0 takes any free one. */
  readonly eventSocket: string;
  /** Password of event socket clients. */
  readonly password: string;
  /** `ip:port` of the SIP profile, UDP and TCP. Its address is also that of all media. */
  readonly media: string;
  /**
   * Addresses from which calls are taken, or `any`: who calls chooses the program that controls the call and may command
   * the server. Left out, it is this machine's own addresses.
   */
  readonly callers?: readonly string[];
  /** Name of the SIP profile, `drachtio_mrf` for drachtio-fsmrf. */
  readonly profile: string;
  /** First and last RTP port, inclusive. Each call takes an even port and the one above. */
  readonly rtpPorts: { readonly from: number; readonly to: number };
  /** Directory in which relative prompt names are looked up. */
  readonly sounds: string;
  /** Directory of recordings with relative names. */
  readonly recordings: string;
}

/** What is alive in a media server, and how punctual its media is. */
export interface MediaServerStats {
  readonly channels: number;
  readonly conferences: number;
  /** RTP sockets; each has an RTCP socket beside it. */
  readonly rtpSockets: number;
  /** Event socket connections, inbound and outbound. */
  readonly eventSockets: number;
  readonly sipDialogs: number;
  readonly sipTransactions: number;
  readonly timers: number;
  readonly media: {
    readonly packetsSent: number;
    /** Packets that left more than 10 ms after they were due. */
    readonly packetsLate: number;
    readonly maxLatenessMs: number;
  };
}

/** An option that cannot be used. */
export class MediaServerOptionError extends RangeError {
  override readonly name = 'MediaServerOptionError';
  readonly field: string;
  readonly found: string;
  constructor(field: string, found: string, expected: string) {
    super(`media server option ${field} is ${JSON.stringify(found)}; expected ${expected}`);
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
