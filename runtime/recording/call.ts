/** Live calls as the recorder sees them; the switch shows them so. */
import type { MediaEndpoint } from '../media/endpoint.ts';

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
  /** Absent in a conference, where all are heard on one channel. */
  readonly side?: 'a' | 'b';
  /** Channel of the file on which the party is heard: 0 is left. */
  readonly channel?: 0 | 1;
  readonly number: string;
  readonly login: string;
  readonly domain: string;
  readonly uri: string;
}

export function partiesOf({ legs }: RecordedCall): RecordedParty[] {
  return legs.map(({ side, number, login, domain, uri }) => ({
    side,
    channel: side === 'a' ? 0 : 1,
    number,
    login: login ?? '',
    domain,
    uri,
  }));
}
