/** Who calls whom: the caller profile that FreeSWITCH puts into every event of a channel. */
export interface CallerProfile {
  /** `sofia/<profile>/<user>@<host>`. */
  readonly channelName: string;
  readonly callerIdName: string;
  readonly callerIdNumber: string | undefined;
  readonly networkAddress: string;
  readonly destinationNumber: string;
  readonly context: string;
}

/** Moments of a channel's life in microseconds since 1970, 0 for not yet. */
export interface ChannelTimes {
  created: number;
  answered: number;
  progressMedia: number;
  hangup: number;
  transfer: number;
  bridged: number;
}

/** What of a leg changes while it lives: who it is in the dialplan's eyes, and when what happened. */
export interface LegState {
  readonly uuid: string;
  readonly dialplan: string;
  /** Where the last transfer or bridge came from. */
  readonly transferSource: string;
  /** Counts the profiles: each transfer and each bridge makes another one. */
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

/** The names with a prefix, made once: every event carries them. */
export const EVENT_PREFIX = prefixed('Caller');
export const CHANNEL_PREFIX = prefixed('Channel');
export const OTHER_LEG_PREFIX = prefixed('Other-Leg');

/** Adds the profile: under `Caller-` in events, also under `Channel-` in the answer to `connect`, and that of a peer. */
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
