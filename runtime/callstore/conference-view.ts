/** Conferences as REST callers read them (specification, "Conference (active)", "Conference participant", "Topology"). */

export interface ConferenceView {
  readonly confid: string;
  /** Decimal digits: what is dialled after the featurecode. */
  readonly confroomnum: string;
  /** Hexadecimal; part of the confid. */
  readonly confnumber: string;
  /** `<sip:FEATURECODE+ROOM@DOMAIN>`: it can be called. */
  readonly uri: string;
  readonly site: string;
  /** Milliseconds since the epoch. */
  readonly startts: number;
  /** The URIs of every participant; a sipuser has two, by login and by phone number. */
  readonly uris: readonly string[];
}

/** The names a `mask` may hold, in the order in which they are answered. */
export const CONFERENCE_FIELDS = [
  'confid',
  'confroomnum',
  'confnumber',
  'uri',
  'site',
  'startts',
  'uris',
] as const satisfies readonly (keyof ConferenceView)[];

/**
 * - `calling`: on the way in, or called from the conference without a word so far
 * - `ringing`: it rings
 * - `connected`: in the mix
 * - `hold`: its phone holds the conference
 * - `disconnected`: an invited party did not come
 */
export const PARTICIPANT_STATES = ['calling', 'ringing', 'connected', 'hold', 'disconnected'] as const;
export type ParticipantState = (typeof PARTICIPANT_STATES)[number];

export interface ParticipantView {
  readonly participantid: string;
  readonly state: ParticipantState;
  /** Call-ID of the leg between the call-processing role and the conference. */
  readonly callid: string;
  /** The conference's URI, the same for all. */
  readonly luri: string;
  readonly ltag: string;
  /** The participant's URI. */
  readonly ruri: string;
  readonly rtag: string;
}

export const PARTICIPANT_FIELDS = [
  'participantid',
  'state',
  'callid',
  'luri',
  'ltag',
  'ruri',
  'rtag',
] as const satisfies readonly (keyof ParticipantView)[];

/** Whether `from` is heard by `to`. */
export interface TopologyEntry {
  readonly from: string;
  readonly to: string;
  readonly enabled: boolean;
}
