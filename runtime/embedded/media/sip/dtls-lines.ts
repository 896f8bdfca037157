/** DTLS-SRTP and ICE in session descriptions (RFC 8842, RFC 8839). */
import { type Fingerprint, readFingerprints } from '../webrtc/fingerprint.ts';
import type { IceLite } from '../webrtc/ice-lite.ts';

/** What an encrypted stream with a fingerprint says of its keys and path. */
export interface RemoteDtlsLines {
  readonly fingerprints: readonly Fingerprint[];
  /** `ufrag password`; undefined without ICE. */
  readonly ice: string | undefined;
  readonly rtcpMux: boolean;
  /** Name of the stream, which the answer repeats (RFC 8843). */
  readonly mid: string | undefined;
  /** Whether the offer bundles the stream with itself, or others. */
  readonly bundled: boolean;
}

/** The server's side of it. */
export interface LocalDtls {
  readonly fingerprint: string;
  readonly ice: IceLite;
  /** Source of the packets, by which far ends find their stream. */
  readonly ssrc: number;
}

/**
 * Reads the lines of a stream; those of the session are its default.
 * @returns undefined without a usable fingerprint, or for a far end that wants to be the DTLS server, which the server is always
 */
export function readDtls(session: string, stream: string): RemoteDtlsLines | undefined {
  const own = readFingerprints(stream);
  const fingerprints = own.length > 0 ? own : readFingerprints(session);
  if (fingerprints.length === 0) return undefined;
  const value = (name: string): string | undefined => {
    const line = new RegExp(`^a=${name}:(\\S+)\\s*$`, 'm');
    return (line.exec(stream) ?? line.exec(session))?.[1];
  };
  const setup = value('setup');
  if (setup !== undefined && setup !== 'actpass' && setup !== 'active') return undefined;
  const mid = value('mid');
  const [ufrag, password] = [value('ice-ufrag'), value('ice-pwd')];
  return {
    fingerprints,
    ice: ufrag === undefined || password === undefined ? undefined : `${ufrag} ${password}`,
    rtcpMux: /^a=rtcp-mux\s*$/m.test(stream),
    mid,
    bundled: mid !== undefined && session.split(/\r?\n/).some((line) => isBundleOf(line, mid)),
  };
}

/**
 * The lines of a stream of the server.
 * @param remote the offer that is answered; undefined in an offer
 */
export function dtlsLines(
  { fingerprint, ice, ssrc }: LocalDtls,
  where: { readonly address: string; readonly port: number },
  remote: RemoteDtlsLines | undefined,
): string[] {
  const { address, port } = where;
  const withIce = remote === undefined || remote.ice !== undefined;
  return [
    ...(remote === undefined || remote.rtcpMux ? ['a=rtcp-mux'] : []),
    ...midLine(remote),
    `a=ssrc:${ssrc} cname:${ice.ufrag}`,
    `a=fingerprint:sha-256 ${fingerprint}`,
    `a=setup:${remote === undefined ? 'actpass' : 'passive'}`,
    ...(withIce
      ? [
          `a=ice-ufrag:${ice.ufrag}`,
          `a=ice-pwd:${ice.password}`,
          `a=candidate:1 1 udp 2130706431 ${address} ${port} typ host`,
          'a=end-of-candidates',
        ]
      : []),
  ];
}

/** Name of the stream in the server's offers, which have one. */
const MID = '0';

/** Attributes of the session: the server is a lite agent of ICE, and the stream has a path of its own (RFC 8843). */
export function dtlsSessionLines(remote: RemoteDtlsLines | undefined): string[] {
  if (remote === undefined) return [`a=group:BUNDLE ${MID}`, 'a=ice-lite'];
  if (remote.ice === undefined) return [];
  return [...(remote.bundled ? [`a=group:BUNDLE ${remote.mid}`] : []), 'a=ice-lite'];
}

function isBundleOf(line: string, mid: string): boolean {
  return line.startsWith('a=group:BUNDLE ') && line.split(' ').slice(1).includes(mid);
}

function midLine(remote: RemoteDtlsLines | undefined): string[] {
  const mid = remote === undefined ? MID : remote.mid;
  return mid === undefined ? [] : [`a=mid:${mid}`];
}
