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

/** Names of the profile's values, without prefix, in the real server's order. */
const NAMES = [
  'Direction',
  'Logical-Direction',
  'Dialplan',
  'Caller-ID-Name',
  'Caller-ID-Number',
  'Orig-Caller-ID-Name',
  'Network-Addr',
  'Destination-Number',
  'Unique-ID',
  'Source',
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

/** The names with either prefix, made once: every event carries them. */
const PREFIXED = {
  Caller: NAMES.map((name) => `Caller-${name}`),
  Channel: NAMES.map((name) => `Channel-${name}`),
};

/** The profile as headers, under `Caller-` in events and also under `Channel-` in the answer to `connect`. */
export function profileHeaders(
  prefix: 'Caller' | 'Channel',
  uuid: string,
  profile: CallerProfile,
  dialplan: string,
  times: ChannelTimes,
): Record<string, string> {
  const created = String(times.created);
  const values: (string | undefined)[] = [
    'inbound',
    'inbound',
    dialplan,
    profile.callerIdName,
    profile.callerIdNumber,
    profile.callerIdName,
    profile.networkAddress,
    profile.destinationNumber,
    uuid,
    'mod_sofia',
    profile.context,
    profile.channelName,
    '1',
    created,
    created,
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
  const headers: Record<string, string> = {};
  const names = PREFIXED[prefix];
  for (const [index, value] of values.entries()) if (value !== undefined) headers[names[index] as string] = value;
  return headers;
}
