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

/** What the lines of a stream of the server are for. */
export interface DtlsForm {
  readonly setup: 'actpass' | 'passive';
  readonly ice: boolean;
  readonly rtcpMux: boolean;
  /** Name of the stream; undefined without one. */
  readonly mid: string | undefined;
}

/** Name of the stream in the server's offers to browsers. */
const MID = '0';

/** An offer for browsers. */
export const OFFER_WITH_ICE: DtlsForm = { setup: 'actpass', ice: true, rtcpMux: true, mid: MID };

/** An offer for phones. */
export const OFFER_WITHOUT_ICE: DtlsForm = { setup: 'actpass', ice: false, rtcpMux: true, mid: undefined };

/** An answer to this offer. */
export function answering({ ice, rtcpMux, mid }: RemoteDtlsLines): DtlsForm {
  return { setup: 'passive', ice: ice !== undefined, rtcpMux, mid };
}

/** The lines of a stream of the server. */
export function dtlsLines(
  { fingerprint, ice, ssrc }: LocalDtls,
  { address, port }: { readonly address: string; readonly port: number },
  form: DtlsForm,
): string[] {
  return [
    ...(form.rtcpMux ? ['a=rtcp-mux'] : []),
    ...(form.mid === undefined ? [] : [`a=mid:${form.mid}`]),
    `a=ssrc:${ssrc} cname:${ice.ufrag}`,
    `a=fingerprint:sha-256 ${fingerprint}`,
    `a=setup:${form.setup}`,
    ...(form.ice
      ? [
          `a=ice-ufrag:${ice.ufrag}`,
          `a=ice-pwd:${ice.password}`,
          `a=candidate:1 1 udp 2130706431 ${address} ${port} typ host`,
          'a=end-of-candidates',
        ]
      : []),
  ];
}

/** Attributes of the session in an offer with ICE: the server is a lite agent, and the stream has a path of its own (RFC 8843). */
export const ICE_SESSION: readonly string[] = [`a=group:BUNDLE ${MID}`, 'a=ice-lite'];

/** Attributes of the session in an answer. */
export function answeringSession({ ice, bundled, mid }: RemoteDtlsLines): string[] {
  if (ice === undefined) return [];
  return [...(bundled ? [`a=group:BUNDLE ${mid}`] : []), 'a=ice-lite'];
}

function isBundleOf(line: string, mid: string): boolean {
  return line.startsWith('a=group:BUNDLE ') && line.split(' ').slice(1).includes(mid);
}
