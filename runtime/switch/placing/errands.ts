/** What one node asks another to do with a party that it sends. Plain JSON. */
import type { DialogOpts } from '../../callstore/index.ts';
import { asDomainName, type DomainName } from '../../domain-name/index.ts';
import type { RouteDecision } from '../../domain/index.ts';
import type { DialogSide, EnteredRoom, TransferOptions } from '../../runs/index.ts';
import type { SdpOrigin, SipAnswer } from '../../signalling/index.ts';
import type { CarriedState } from '../dialogs/carried-state.ts';
import type { KnownCall } from '../dialogs/dialog.ts';
import type { Party } from '../legs/party.ts';
import type { AttemptOptions } from './attempt.ts';

/** `CarriedState` as JSON. */
export interface ToldCarried extends Omit<CarriedState, 'labels' | 'pausedRecordings'> {
  readonly labels: readonly string[];
  readonly pausedRecordings: readonly string[];
}

/** The party's call leads to a room, a ringing call or a scenario of the other node, and moves there. */
export interface PlaceErrand {
  readonly errand: 'place';
  readonly dialog: {
    readonly localuri: string;
    readonly remoteuri: string;
    readonly site: string;
    readonly opts?: DialogOpts;
    readonly known: KnownCall;
  };
  readonly carried: ToldCarried;
  readonly decision: RouteDecision & { readonly kind: 'conference' | 'pickup' | 'scenario' };
  readonly options: Pick<
    AttemptOptions,
    'domain' | 'dialled' | 'callerNumber' | 'callerName' | 'asserted' | 'timeoutMs' | 'headers'
  > & {
    readonly entrance?: Omit<NonNullable<AttemptOptions['entrance']>, 'instead'>;
  };
}

/** The party is joined with a party of a call of the other node. */
export interface JoinErrand {
  readonly errand: 'join';
  readonly side: DialogSide & TransferOptions;
  /** Whether that party may be a scenario. */
  readonly scenarios: boolean;
  readonly carried: ToldCarried;
  /** Of the new call. */
  readonly dialogid: string;
  /** Id of the call that the party comes from. */
  readonly replaces: string;
}

/** The caller's INVITE replaces a party of a call of the other node (RFC 3891). */
export interface ReplaceErrand {
  readonly errand: 'replace';
  /** Value of the header. */
  readonly replaces: string;
}

/** The other node has asked for the party. */
export interface TakenErrand {
  readonly errand: 'taken';
  readonly token: string;
  readonly carried: ToldCarried;
  /** The party's former peer. */
  readonly from?: Party | undefined;
  /** Id of the call that the party comes from. */
  readonly replaces: string;
}

export type Errand = PlaceErrand | JoinErrand | ReplaceErrand | TakenErrand;

/** What came of an errand. */
export interface Outcome {
  readonly final: SipAnswer;
  /** Whether the other node has the party: also one that hung up there. */
  readonly taken: boolean;
  /** The room of a party that entered one. */
  readonly room?: EnteredRoom;
  /** The party's new call. */
  readonly call?: { readonly dialogid: string; readonly inviteid: string };
  /** Of a session that a party which comes back has had there. */
  readonly description?: SdpOrigin;
  /** The node does not have that room any more: it is looked for again. */
  readonly elsewhere?: true;
}

export function toldCarried({ labels, pausedRecordings, ...rest }: CarriedState): ToldCarried {
  return { ...rest, labels: [...labels], pausedRecordings: [...pausedRecordings] };
}

export function carriedIn({ labels, pausedRecordings, ...rest }: ToldCarried): CarriedState {
  const paused: readonly DomainName[] = pausedRecordings.map(asDomainName);
  return { ...rest, labels: new Set(labels), pausedRecordings: new Set(paused) };
}
