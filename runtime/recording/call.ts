/** Live calls for the recorder. `LiveCall` of the switch has this form; this room knows nothing else of the switch. */
import type { DomainName } from '../domain-name/index.ts';
import type { MediaEndpoint } from '../media/index.ts';

export interface RecordedLeg {
  readonly callid: string;
  readonly side: 'a' | 'b';
  /** Undefined for a scenario, whose sound is recorded on the other leg. */
  readonly endpoint: MediaEndpoint | undefined;
  readonly domain: DomainName;
  readonly number: string;
  readonly login: string | undefined;
  readonly sipUserId: string | undefined;
  readonly uri: string;
}

export interface RecordedCall {
  readonly dialogid: string;
  readonly inviteid: string;
  readonly legs: readonly RecordedLeg[];
  /** Domains whose recording is paused; transfers keep them. */
  readonly pausedRecordings: Set<DomainName>;
}

/** A party of a recording in the index. */
export interface RecordedParty {
  /** Absent in a conference. */
  readonly side?: 'a' | 'b';
  /** Channel of the file with only this party: 0 is left. Absent in a conference, and for an unrecorded party. */
  readonly channel?: 0 | 1;
  readonly number: string;
  readonly login: string;
  readonly domain: string;
  readonly uri: string;
}

/** @param alone the only recorded leg; undefined: both */
export function partiesOf({ legs }: RecordedCall, alone?: RecordedLeg): RecordedParty[] {
  const channelOf = ({ callid, side }: RecordedLeg): Pick<RecordedParty, 'channel'> => {
    if (alone === undefined) return { channel: side === 'a' ? 0 : 1 };
    return callid === alone.callid ? { channel: 0 } : {};
  };
  return legs.map((leg) => ({
    side: leg.side,
    ...channelOf(leg),
    number: leg.number,
    login: leg.login ?? '',
    domain: leg.domain,
    uri: leg.uri,
  }));
}
