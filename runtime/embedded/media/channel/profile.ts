/** Caller profiles, and their event headers. */

/** FreeSWITCH's caller profile, part of every event of a channel: caller, callee, names. */
export interface CallerProfile {
  /** `sofia/<profile>/<user>@<host>`. */
  readonly channelName: string;
  readonly callerIdName: string;
  readonly callerIdNumber: string | undefined;
  readonly networkAddress: string;
  readonly destinationNumber: string;
  readonly context: string;
}

/** Times of a channel in microseconds since 1970; 0 for not yet. */
export interface ChannelTimes {
  created: number;
  answered: number;
  progressMedia: number;
  hangup: number;
  transfer: number;
  bridged: number;
}

/** The changing part of a leg: its place in the dialplan, and its times. */
export interface LegState {
  readonly uuid: string;
  readonly dialplan: string;
  /** Source of the last transfer or bridge. */
  readonly transferSource: string;
  /** Number of the profile: each transfer and each bridge begins a new one. */
  readonly profileIndex: number;
  /** Microseconds since 1970. */
  readonly profileCreated: number;
  readonly calleeIdName: string;
  readonly times: Readonly<ChannelTimes>;
}

/** Names of the profile's values, without prefix, in the real server's order. */
const NAMES = [
  'Direction',
  'Logical-Direction',
  'Dialplan',
  'Caller-ID-Name',
  'Caller-ID-Number',
  'Orig-Caller-ID-Name',
  'Callee-ID-Name',
  'Network-Addr',
  'Destination-Number',
  'Unique-ID',
  'Source',
  'Transfer-Source',
  'Context',
  'Channel-Name',
  'Profile-Index',
  'Profile-Created-Time',
  'Channel-Created-Time',
  'Channel-Answered-Time',
  'Channel-Progress-Time',
  'Channel-Progress-Media-Time',
  'Channel-Hangup-Time',
  'Channel-Transfer-Time',
  'Channel-Resurrect-Time',
  'Channel-Bridged-Time',
  'Channel-Last-Hold',
  'Channel-Hold-Accum',
  'Screen-Bit',
  'Privacy-Hide-Name',
  'Privacy-Hide-Number',
] as const;

const prefixed = (prefix: string): readonly string[] => NAMES.map((name) => `${prefix}-${name}`);

/** The names with a prefix, built once for all events. */
export const EVENT_PREFIX = prefixed('Caller');
export const CHANNEL_PREFIX = prefixed('Channel');
export const OTHER_LEG_PREFIX = prefixed('Other-Leg');

/**
 * Adds a profile under a prefix: `Caller-` in events, `Channel-` in the answer to `connect`, or that of the other leg.
 */
export function profileHeaders(
  headers: Record<string, string | readonly string[]>,
  names: readonly string[],
  profile: CallerProfile,
  { uuid, dialplan, transferSource, profileIndex, profileCreated, calleeIdName, times }: LegState,
): void {
  const isPeer = names === OTHER_LEG_PREFIX;
  const values = [
    'inbound',
    'inbound',
    dialplan,
    profile.callerIdName,
    profile.callerIdNumber ?? '',
    profile.callerIdName,
    calleeIdName,
    profile.networkAddress,
    profile.destinationNumber,
    uuid,
    'mod_sofia',
    isPeer ? '' : transferSource,
    profile.context,
    profile.channelName,
    isPeer ? '' : String(profileIndex),
    String(profileCreated),
    String(times.created),
    String(times.answered),
    '0',
    String(times.progressMedia),
    String(times.hangup),
    String(times.transfer),
    '0',
    String(times.bridged),
    '0',
    '0',
    'true',
    'false',
    'false',
  ];
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] as string;
    if (value !== '') headers[names[index] as string] = value;
  }
}
