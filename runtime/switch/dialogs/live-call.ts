/** Live calls as recorders and recognisers see them. */
import type { DomainName } from '../../domain-name/index.ts';
import type { MediaEndpoint } from '../../media/index.ts';
import type { CallDialog } from './dialog.ts';
import { numberOf, type Party, urisOf } from '../legs/party.ts';

/** One party of a live call, with its media. */
export interface LiveCallLeg {
  readonly callid: string;
  readonly side: 'a' | 'b';
  /** Undefined for a scenario, which has no media of its own. */
  readonly endpoint: MediaEndpoint | undefined;
  readonly domain: DomainName;
  readonly number: string;
  /** Defined for a sipuser, as is `sipUserId`. */
  readonly login: string | undefined;
  readonly sipUserId: string | undefined;
  readonly uri: string;
}

/**
 * A live call for recorders and recognisers: a snapshot, except for `pausedRecordings`. It fits `RecordedCall`, the
 * recorder's own description.
 */
export interface LiveCall {
  readonly dialogid: string;
  readonly inviteid: string;
  /** The caller first; all called contacts while they ring, then the one that answered. */
  readonly legs: readonly LiveCallLeg[];
  /** Domains that have paused their recording; written by the recorder, and kept through transfers. */
  readonly pausedRecordings: Set<DomainName>;
}

/** Follows calls from the answer to the end. It must not throw. */
export interface CallWatcher {
  /** A called party answered, and its sound is about to be connected. */
  answered(call: LiveCall): void;
  over(dialogid: string): void;
}

export function liveCall(dialog: CallDialog): LiveCall {
  return {
    dialogid: dialog.dialogid,
    inviteid: dialog.inviteid,
    pausedRecordings: dialog.pausedRecordings,
    legs: dialog.legs.map(({ leg: { callid, endpoint, party }, side }) => ({
      callid,
      side,
      endpoint,
      domain: party.domain,
      number: numberOf(party),
      ...accountOf(party),
      uri: urisOf(party)[0] ?? '',
    })),
  };
}

function accountOf(party: Party): Pick<LiveCallLeg, 'login' | 'sipUserId'> {
  if (party.kind !== 'sipuser') return { login: undefined, sipUserId: undefined };
  return { login: party.sipUser.login, sipUserId: party.sipUser.id };
}
