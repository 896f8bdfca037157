/** Session descriptions of an audio phone (RFC 8866), offered and answered by RFC 3264. */
import { CODECS, type Codec, codecNamed } from './codecs.ts';

export type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';

export interface AudioDescription {
  readonly sessionId: string;
  readonly version: number;
  readonly address: string;
  /** 0: the stream is refused. */
  readonly port: number;
  /** `RTP/AVP` or `RTP/AVPF`, or of encrypted sound `RTP/SAVP`. */
  readonly profile: string;
  readonly direction: Direction;
  readonly payloadTypes: readonly number[];
  /** The phone's codecs in order of preference. */
  readonly codecs: readonly Codec[];
  /** Their payload types. */
  readonly types: ReadonlyMap<Codec, number>;
  /** Payload type of telephone-events with the clock of the first codec, if there is one. */
  readonly telephoneEvent: number | undefined;
  /** Number of media lines, which an answer must keep. */
  readonly mediaLines: number;
}

/** The text is no session description usable by this phone. */
export class SdpError extends Error {
  override readonly name = 'SdpError';
}

const SESSION_ORDER = 'vosiuepcbtrzka';
const OPPOSITE: Readonly<Record<Direction, Direction>> = {
  sendrecv: 'sendrecv',
  sendonly: 'recvonly',
  recvonly: 'sendonly',
  inactive: 'inactive',
};

/** The direction that answers an offered one, without further restriction (RFC 3264 section 6.1). */
export function answerTo(offered: Direction): Direction {
  return OPPOSITE[offered];
}

/**
 * Reads and checks a description.
 * @param encrypts of a choice of audio streams, whether an encrypted one is taken
 * @throws SdpError for a malformed line, a missing mandatory line, a wrong order of session lines, no audio
 */
export function parseSdp(text: string, encrypts = false): AudioDescription {
  if (!text.endsWith('\r\n') || /[^\r]\n/.test(text)) throw new SdpError('lines must end in CRLF');
  const lines = text.slice(0, -2).split('\r\n');
  for (const line of lines) {
    if (!/^[a-z]=\S?.*$/.test(line) || line.length < 3) throw new SdpError(`malformed line "${line}"`);
  }
  const mediaStarts = lines.flatMap((line, at) => (line.startsWith('m=') ? [at] : []));
  const session = lines.slice(0, mediaStarts[0] ?? lines.length);
  checkSession(session);
  const audioAt = audioOf(
    mediaStarts.map((at) => lines[at] ?? ''),
    encrypts,
  );
  if (audioAt < 0) throw new SdpError('no audio');
  const media = lines.slice(mediaStarts[audioAt], mediaStarts[audioAt + 1] ?? lines.length);
  const origin = (session[1] ?? '').slice(2).split(' ');
  const connection = [...media, ...session].find((line) => line.startsWith('c='));
  const address = /^c=IN (?:IP4 ([\d.]+)|IP6 ([\da-f:.]+))$/i
    .exec(connection ?? '')
    ?.slice(1)
    .find((one) => one !== undefined);
  if (address === undefined) throw new SdpError(`no usable connection line: ${connection}`);
  return {
    sessionId: origin[1] ?? '',
    version: Number(origin[2]),
    address,
    direction: directionOf(media) ?? directionOf(session) ?? 'sendrecv',
    mediaLines: mediaStarts.length,
    ...parseMedia(media),
  };
}

/** The audio that this phone takes: of several ones the first of its kind. */
function audioOf(media: readonly string[], encrypts: boolean): number {
  const isAudio = (line: string): boolean => line.startsWith('m=audio ');
  const chosen = media.findIndex(
    (line) => isAudio(line) && !line.startsWith('m=audio 0 ') && (encrypts ? / RTP\/SAVP/ : / RTP\/AVP/).test(line),
  );
  return chosen < 0 ? media.findIndex(isAudio) : chosen;
}

/** An answer with a refusal of every offered audio stream of another profile (RFC 3264 section 6). */
export function withRefusals(offer: string, answer: string): string {
  const profile = /^m=audio \d+ (\S+)/m.exec(answer)?.[1];
  const [session = '', audio = ''] = answer.split(/^(?=m=)/m);
  const offered = [...offer.matchAll(/^m=audio \d+ (\S+) (.*)\r$/gm)];
  if (offered.length < 2) return answer;
  return (
    session + offered.map((line) => (line[1] === profile ? audio : `m=audio 0 ${line[1]} ${line[2]}\r\n`)).join('')
  );
}

function checkSession(session: readonly string[]): void {
  for (const [at, type] of ['v', 'o', 's'].entries()) {
    if (!session[at]?.startsWith(`${type}=`)) throw new SdpError(`line ${at + 1} must be ${type}=`);
  }
  if (session[0] !== 'v=0') throw new SdpError(`version ${session[0]}`);
  if (!session.some((line) => line.startsWith('t='))) throw new SdpError('no t= line');
  if (!/^o=\S+ \d+ \d+ IN IP[46] \S+$/.test(session[1] ?? '')) throw new SdpError(`malformed origin "${session[1]}"`);
  const ranks = session.map((line) => SESSION_ORDER.indexOf(line.charAt(0)));
  if (ranks.some((rank, at) => rank < (ranks[at - 1] ?? 0))) throw new SdpError('session lines are out of order');
}

const DIRECTIONS: readonly Direction[] = ['sendrecv', 'sendonly', 'recvonly', 'inactive'];

function directionOf(lines: readonly string[]): Direction | undefined {
  return DIRECTIONS.find((direction) => lines.includes(`a=${direction}`));
}

function parseMedia(
  media: readonly string[],
): Pick<AudioDescription, 'port' | 'profile' | 'payloadTypes' | 'codecs' | 'types' | 'telephoneEvent'> {
  const match = /^m=audio (\d+)(?:\/\d+)? (RTP\/S?AVPF?)((?: \d+)+)$/.exec(media[0] ?? '');
  if (match === null) throw new SdpError(`malformed media line "${media[0]}"`);
  const payloadTypes = (match[3] ?? '').trim().split(' ').map(Number);
  const names = new Map<number, string>([
    [0, 'PCMU/8000'],
    [8, 'PCMA/8000'],
    [9, 'G722/8000'],
  ]);
  for (const line of media) {
    const map = /^a=rtpmap:(\d+) (\S+)$/.exec(line);
    if (map !== null) names.set(Number(map[1]), (map[2] ?? '').toUpperCase().replace(/\/1$/, ''));
  }
  const known = payloadTypes.flatMap((type): [Codec, number][] => {
    const codec = codecNamed(names.get(type) ?? '');
    return codec === undefined ? [] : [[codec, type]];
  });
  const codecs = known.map(([codec]) => codec);
  const eventOf = (clock: number): number | undefined =>
    payloadTypes.find((type) => names.get(type) === `TELEPHONE-EVENT/${clock}`);
  const telephoneEvent = eventOf(CODECS[codecs[0] ?? 'PCMU'].clock) ?? eventOf(8000);
  for (const type of payloadTypes) {
    if (type >= 96 && !names.has(type)) throw new SdpError(`dynamic payload type ${type} has no rtpmap`);
  }
  return {
    port: Number(match[1]),
    profile: match[2] ?? '',
    payloadTypes,
    codecs,
    types: new Map(known),
    telephoneEvent,
  };
}

export interface LocalDescription {
  readonly sessionId: string;
  readonly version: number;
  readonly port: number;
  /** Default 127.0.0.1. */
  readonly address?: string;
  readonly direction: Direction;
  readonly codecs: readonly Codec[];
  /** Their payload types. */
  readonly types: ReadonlyMap<Codec, number>;
  readonly telephoneEvent: number | undefined;
}

/** Writes the phone's own description, offer or answer. */
export function writeSdp(local: LocalDescription): string {
  const types = local.codecs.map((codec) => local.types.get(codec) ?? CODECS[codec].payloadType);
  const events = local.telephoneEvent;
  const { clock } = CODECS[local.codecs[0] ?? 'PCMU'];
  const { address = '127.0.0.1' } = local;
  const network = `IN ${address.includes(':') ? 'IP6' : 'IP4'} ${address}`;
  return [
    'v=0',
    `o=phone ${local.sessionId} ${local.version} ${network}`,
    's=-',
    `c=${network}`,
    't=0 0',
    `m=audio ${local.port} RTP/AVP ${[...types, ...(events === undefined ? [] : [events])].join(' ')}`,
    ...local.codecs.map((codec, at) => `a=rtpmap:${types[at]} ${CODECS[codec].rtpmap}`),
    ...(events === undefined ? [] : [`a=rtpmap:${events} telephone-event/${clock}`, `a=fmtp:${events} 0-15`]),
    'a=ptime:20',
    `a=${local.direction}`,
    '',
  ].join('\r\n');
}

/**
 * Violations of an answer to an offer (RFC 3264 section 6).
 * @param profile of the offered audio
 */
export function answerMistakes(offer: LocalDescription, profile: string, answer: AudioDescription): string[] {
  const mistakes: string[] = [];
  if (answer.mediaLines !== 1) mistakes.push(`the answer has ${answer.mediaLines} media lines, the offer one`);
  if (answer.port === 0) return mistakes;
  if (answer.profile !== profile) mistakes.push(`the answer has ${answer.profile}, the offer ${profile}`);
  if (answer.codecs.length === 0) mistakes.push('the answer has no offered codec');
  for (const codec of answer.codecs) {
    if (!offer.codecs.includes(codec)) mistakes.push(`the answer names ${codec}, which was not offered`);
  }
  const allowed: Readonly<Record<Direction, readonly Direction[]>> = {
    sendrecv: ['sendrecv', 'sendonly', 'recvonly', 'inactive'],
    sendonly: ['recvonly', 'inactive'],
    recvonly: ['sendonly', 'inactive'],
    inactive: ['inactive'],
  };
  if (!allowed[offer.direction].includes(answer.direction)) {
    mistakes.push(`${answer.direction} cannot answer ${offer.direction}`);
  }
  return mistakes;
}

/** Violations of a further description of the same side (RFC 3264 section 8): version and origin. */
export function versionMistakes(before: AudioDescription, after: AudioDescription): string[] {
  if (before.sessionId !== after.sessionId) return ['a re-offer or re-answer changed the session id of its origin'];
  const same = JSON.stringify({ ...before, version: 0 }) === JSON.stringify({ ...after, version: 0 });
  if (after.version === before.version && !same) return ['the description changed, its version did not'];
  if (after.version < before.version) return ['the version of the description went back'];
  return [];
}
