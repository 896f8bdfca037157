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

/** The profile as headers, under `Caller-` in events and also under `Channel-` in the answer to `connect`. */
export function profileHeaders(
  prefix: 'Caller' | 'Channel',
  uuid: string,
  profile: CallerProfile,
  dialplan: string,
  times: ChannelTimes,
): Record<string, string> {
  const values: Record<string, string> = {
    Direction: 'inbound',
    'Logical-Direction': 'inbound',
    Dialplan: dialplan,
    'Caller-ID-Name': profile.callerIdName,
    ...(profile.callerIdNumber === undefined ? {} : { 'Caller-ID-Number': profile.callerIdNumber }),
    'Orig-Caller-ID-Name': profile.callerIdName,
    'Network-Addr': profile.networkAddress,
    'Destination-Number': profile.destinationNumber,
    'Unique-ID': uuid,
    Source: 'mod_sofia',
    Context: profile.context,
    'Channel-Name': profile.channelName,
    'Profile-Index': '1',
    'Profile-Created-Time': String(times.created),
    'Channel-Created-Time': String(times.created),
    'Channel-Answered-Time': String(times.answered),
    'Channel-Progress-Time': '0',
    'Channel-Progress-Media-Time': String(times.progressMedia),
    'Channel-Hangup-Time': String(times.hangup),
    'Channel-Transfer-Time': String(times.transfer),
    'Channel-Resurrect-Time': '0',
    'Channel-Bridged-Time': String(times.bridged),
    'Channel-Last-Hold': '0',
    'Channel-Hold-Accum': '0',
    'Screen-Bit': 'true',
    'Privacy-Hide-Name': 'false',
    'Privacy-Hide-Number': 'false',
  };
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`${prefix}-${name}`, value]));
}
