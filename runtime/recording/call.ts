/** Live calls as the recorder sees them; the switch shows them so. */
import type { MediaEndpoint } from '../media/index.ts';

export interface RecordedLeg {
  readonly callid: string;
  readonly side: 'a' | 'b';
  /** Undefined for a scenario: what it says is heard on the other leg. */
  readonly endpoint: MediaEndpoint | undefined;
  readonly domain: string;
  readonly number: string;
  readonly login: string | undefined;
  readonly sipUserId: string | undefined;
  readonly uri: string;
}

export interface RecordedCall {
  readonly dialogid: string;
  readonly inviteid: string;
  readonly legs: readonly RecordedLeg[];
  /** Domains, in lower case, whose recording is paused; the call keeps them through transfers. */
  readonly pausedRecordings: Set<string>;
}

/** A party as the index of recordings keeps it. */
export interface RecordedParty {
  /** Absent in a conference. */
  readonly side?: 'a' | 'b';
  /** Channel of the file on which nobody else is heard: 0 is left. Absent in a conference, and of a party that is not recorded. */
  readonly channel?: 0 | 1;
  readonly number: string;
  readonly login: string;
  readonly domain: string;
  readonly uri: string;
}

/** @param alone the only leg that is recorded; undefined: both are */
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
