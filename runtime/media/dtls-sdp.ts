/** Descriptions with ICE and keys by DTLS: what FreeSWITCH needs in those of far ends, and what its own lack. */
import { MediaError } from './media-error.ts';

const IPV4_CANDIDATE = /^a=candidate:\S+ 1 udp \d+ \d+\.\d+\.\d+\.\d+ \d+ /im;

/** At the discard port of the media server's own machine. */
const NOBODY = 'a=candidate:1 1 udp 1 127.0.0.1 9 typ host\r\n';

/**
 * The description with a candidate that FreeSWITCH takes, which refuses it otherwise: browsers hide their addresses behind names (mDNS).
 * Media is sent to the source of the far end's checks, whatever the candidates are.
 */
export function withCandidate(sdp: string): string {
  if (!/^a=ice-ufrag:/m.test(sdp) || IPV4_CANDIDATE.test(sdp)) return sdp;
  return inAudio(sdp, (section) => section + NOBODY);
}

const SETUP = /^a=setup:(?:actpass|active|passive)(?=\s*$)/gim;

/**
 * The media server's offer as browsers expect it: the stream has a name (RFC 8829 section 5.2.1), and its profile in full (RFC 8827
 * section 6.5). The media server is to be the client of DTLS, so the choice is not left to the far end, which would choose that.
 */
export function asDtlsOffer(sdp: string): string {
  const named = withMid(sdp, '0', true).replace(/^(m=audio \d+) RTP\/SAVPF(?= )/m, '$1 UDP/TLS/RTP/SAVPF');
  return asDtlsClient(named);
}

/** The media server's description as the client of DTLS; FreeSWITCH repeats its first offer as the answer to later ones. */
export function asDtlsClient(sdp: string): string {
  return sdp.replace(SETUP, 'a=setup:active');
}

/**
 * A far end's answer as an offer, which leaves the roles as they are: answers reach the media server as offers.
 * @throws MediaError for a far end that wants to be the client of DTLS
 */
export function asDtlsReoffer(answer: string): string {
  if (hasSetup(answer, 'active')) throw noDtlsServer();
  return answer.replace(SETUP, 'a=setup:actpass');
}

const HELD = /^a=(sendonly|recvonly|inactive)\s*$/m;

/**
 * The description without a hold. FreeSWITCH sends a held far end a re-INVITE of its own when the channel leaves a bridge, gives up its role
 * in DTLS thereby, and begins ICE anew, which takes seconds.
 */
export function withoutHold(sdp: string): string {
  return sdp.replace(/^a=(?:sendonly|recvonly|inactive)\s*?\r?\n/gm, '');
}

/** The answer in the direction that the offer asks for (RFC 3264 section 6.1), where the media server was not shown it. */
export function inDirectionOf(offer: string, answer: string): string {
  const asked = HELD.exec(audioOf(offer) ?? '')?.[1] ?? HELD.exec(sectionsOf(offer)[0] ?? '')?.[1];
  if (asked === undefined) return answer;
  const given = asked === 'sendonly' ? 'recvonly' : asked === 'recvonly' ? 'sendonly' : asked;
  return inAudio(answer, (section) => `${section.replace(/^a=sendrecv\s*?\r?\n/gm, '')}a=${given}\r\n`);
}

/** @param role `active`: the client of DTLS, `passive`: the server */
export function hasSetup(sdp: string, role: 'active' | 'passive'): boolean {
  return new RegExp(`^a=setup:${role}\\s*$`, 'im').test(sdp);
}

/** FreeSWITCH compares a certificate with its fingerprint as the client of DTLS alone. */
export function noDtlsServer(): MediaError {
  return new MediaError('the phone has a=setup:active, but the media server has to be the client of DTLS', 488, {
    phrase: 'No Usable Key For Encrypted Media',
  });
}

/** The media server's answer with the name of the stream in the offer (RFC 8843 section 7.3). */
export function inNameOf(offer: string, answer: string): string {
  const mid = /^a=mid:(\S+)/m.exec(audioOf(offer) ?? '')?.[1];
  if (mid === undefined || /^a=mid:/m.test(audioOf(answer) ?? '')) return answer;
  const group = /^a=group:BUNDLE (.*?)\s*$/m.exec(offer)?.[1]?.split(' ') ?? [];
  return withMid(answer, mid, group.includes(mid));
}

/**
 * The description with a named stream.
 * @param isBundled whether it says that the stream has a path of its own
 */
function withMid(sdp: string, mid: string, isBundled: boolean): string {
  const named = inAudio(sdp, (section) => `${section}a=mid:${mid}\r\n`);
  return isBundled ? named.replace(/^(?=m=)/m, `a=group:BUNDLE ${mid}\r\n`) : named;
}

const AUDIO = /^m=audio [1-9]/;

function audioOf(sdp: string): string | undefined {
  return sectionsOf(sdp).find((section) => AUDIO.test(section));
}

function inAudio(sdp: string, change: (section: string) => string): string {
  const sections = sectionsOf(sdp);
  const audio = sections.findIndex((section) => AUDIO.test(section));
  return sections.map((section, index) => (index === audio ? change(section) : section)).join('');
}

function sectionsOf(sdp: string): string[] {
  return sdp.split(/^(?=m=)/m);
}
