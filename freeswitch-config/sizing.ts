import { isIP } from 'node:net';
import { parse } from 'yaml';

/** The checked sizing file. */
export interface Sizing {
  readonly calls: number;
  readonly callsPerSecond: number;
  readonly node: string;
  readonly sip: {
    readonly address: string;
    readonly port: number;
    /** Addresses of further drachtio-servers through which the node calls this FreeSWITCH. */
    readonly others: readonly string[];
    readonly callRecords: boolean;
    /** Ports of encrypted SIP and of WebSockets; undefined: closed. */
    readonly tlsPort?: number | undefined;
    readonly wsPort?: number | undefined;
    readonly wssPort?: number | undefined;
    /** PEM files for `tlsPort` and `wssPort`. */
    readonly certificate?: { readonly cert: string; readonly key: string; readonly chain: string } | undefined;
  };
  readonly media: {
    readonly sipPort: number;
    readonly advertisedAddress: string | undefined;
    readonly rtp: { readonly first: number; readonly last: number };
  };
  readonly folders: { readonly sounds: string; readonly recordings: string; readonly logs: string };
}

/** An invalid setting: its name, the found value, the expected form. */
export class SizingError extends Error {
  override readonly name = 'SizingError';
  readonly field: string;
  readonly found: unknown;
  constructor(field: string, found: unknown, expected: string) {
    super(`${field}: expected ${expected}, found ${JSON.stringify(found) ?? 'nothing'}`);
    this.field = field;
    this.found = found;
  }
}

const KNOWN: Readonly<Record<string, readonly string[]>> = {
  '': ['calls', 'callsPerSecond', 'node', 'sip', 'media', 'folders'],
  sip: ['address', 'port', 'others', 'callRecords', 'tlsPort', 'wsPort', 'wssPort', 'certificate'],
  'sip.certificate': ['cert', 'key', 'chain'],
  media: ['sipPort', 'advertisedAddress', 'rtpPorts'],
  folders: ['sounds', 'recordings', 'logs'],
};

/**
 * Reads the sizing file.
 * @param text YAML, as in sizing.yaml
 * @throws SizingError for the first missing, misspelt or invalid setting
 */
export function readSizing(text: string): Sizing {
  const root = mapping('', parse(text));
  const sip = mapping('sip', root.sip);
  const media = mapping('media', root.media);
  const folders = mapping('folders', root.folders);
  const calls = integer('calls', root.calls, 1, 20_000);
  const rtp = portRange('media.rtpPorts', media.rtpPorts);
  if (rtp.last - rtp.first + 1 < sessionsFor(calls) * 2) {
    throw new SizingError('media.rtpPorts', media.rtpPorts, `${sessionsFor(calls) * 2} ports for ${calls} calls`);
  }
  return {
    calls,
    callsPerSecond: integer('callsPerSecond', root.callsPerSecond, 1, 2000),
    node: address('node', root.node),
    sip: {
      address: address('sip.address', sip.address),
      port: integer('sip.port', sip.port, 1, 65_535),
      others: addresses('sip.others', sip.others),
      callRecords: flag('sip.callRecords', sip.callRecords),
      ...encryption(sip),
    },
    media: {
      sipPort: integer('media.sipPort', media.sipPort, 1, 65_535),
      advertisedAddress:
        media.advertisedAddress === undefined ? undefined : address('media.advertisedAddress', media.advertisedAddress),
      rtp,
    },
    folders: {
      sounds: folder('folders.sounds', folders.sounds),
      recordings: folder('folders.recordings', folders.recordings),
      logs: folder('folders.logs', folders.logs),
    },
  };
}

/** FreeSWITCH sessions for `calls` calls: two a call, and a tenth more for conference control legs and listeners. */
export function sessionsFor(calls: number): number {
  return Math.ceil(calls * 2 * 1.1);
}

function encryption(
  sip: Record<string, unknown>,
): Pick<Sizing['sip'], 'tlsPort' | 'wsPort' | 'wssPort' | 'certificate'> {
  const optional = (name: string): number | undefined =>
    sip[name] === undefined ? undefined : integer(`sip.${name}`, sip[name], 1, 65_535);
  const [tlsPort, wsPort, wssPort] = [optional('tlsPort'), optional('wsPort'), optional('wssPort')];
  if (sip.certificate === undefined) {
    if (tlsPort !== undefined || wssPort !== undefined)
      throw new SizingError('sip.certificate', undefined, 'cert, key and chain for sip.tlsPort and sip.wssPort');
    return { tlsPort, wsPort, wssPort, certificate: undefined };
  }
  const files = mapping('sip.certificate', sip.certificate);
  const file = (name: string): string => folder(`sip.certificate.${name}`, files[name]);
  return { tlsPort, wsPort, wssPort, certificate: { cert: file('cert'), key: file('key'), chain: file('chain') } };
}

function mapping(name: string, found: unknown): Record<string, unknown> {
  if (typeof found !== 'object' || found === null || Array.isArray(found)) {
    throw new SizingError(name === '' ? 'the file' : name, found, 'settings by name');
  }
  const known = KNOWN[name] ?? [];
  for (const key of Object.keys(found)) {
    const field = name === '' ? key : `${name}.${key}`;
    if (!known.includes(key)) throw new SizingError(field, key, `one of ${known.join(', ')}`);
  }
  return found as Record<string, unknown>;
}

function integer(field: string, found: unknown, min: number, max: number): number {
  if (typeof found !== 'number' || !Number.isInteger(found) || found < min || found > max) {
    throw new SizingError(field, found, `a whole number from ${min} to ${max}`);
  }
  return found;
}

function address(field: string, found: unknown): string {
  // Neither the profile nor the lists take names, and drachtio-fsmrf reads IPv4 from `sofia status`.
  if (typeof found !== 'string' || isIP(found) !== 4) throw new SizingError(field, found, 'an IPv4 address');
  return found;
}

function addresses(field: string, found: unknown): readonly string[] {
  if (found === undefined) return [];
  if (!Array.isArray(found)) throw new SizingError(field, found, 'a list of IPv4 addresses');
  return found.map((one) => address(field, one));
}

function flag(field: string, found: unknown): boolean {
  if (found !== undefined && typeof found !== 'boolean') throw new SizingError(field, found, 'true or false');
  return found === true;
}

function folder(field: string, found: unknown): string {
  if (typeof found !== 'string' || found.trim() === '') throw new SizingError(field, found, 'a path');
  return found;
}

function portRange(field: string, found: unknown): { first: number; last: number } {
  const match = typeof found === 'string' ? /^(\d{4,5})-(\d{4,5})$/.exec(found) : null;
  const first = Number(match?.[1]);
  const last = Number(match?.[2]);
  if (match === null || first < 1024 || last > 65_535 || last <= first) {
    throw new SizingError(field, found, 'a range of ports such as 61000-65535');
  }
  return { first, last };
}
