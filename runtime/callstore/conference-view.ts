/** Conferences for REST clients (specification, "Conference (active)", "Conference participant", "Topology"). */

export interface ConferenceView {
  readonly confid: string;
  /** Decimal digits dialled after the featurecode. */
  readonly confroomnum: string;
  /** Hexadecimal; part of the confid. */
  readonly confnumber: string;
  /** `<sip:FEATURECODE+ROOM@DOMAIN>`, which can be dialled. */
  readonly uri: string;
  readonly site: string;
  /** Milliseconds since the epoch. */
  readonly startts: number;
  /** The URIs of every participant; a sipuser has two, by login and by phone number. */
  readonly uris: readonly string[];
}

/** The names allowed in a `mask`, in the order of the response. */
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
 * - `calling`: entering, or called from the conference without a provisional response yet
 * - `ringing`: its phone rings
 * - `connected`: in the mix
 * - `hold`: its phone holds the conference
 * - `disconnected`: the invited party did not join
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
  readonly moderator: boolean;
  /** True while the media server hears the participant speak. */
  readonly talking: boolean;
}

export const PARTICIPANT_FIELDS = [
  'participantid',
  'state',
  'callid',
  'luri',
  'ltag',
  'ruri',
  'rtag',
  'moderator',
  'talking',
] as const satisfies readonly (keyof ParticipantView)[];

/** True when `to` hears `from`. */
export interface TopologyEntry {
  readonly from: string;
  readonly to: string;
  readonly enabled: boolean;
}
