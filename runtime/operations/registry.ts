import type { OperationDefinition } from './definition.ts';
import { type ConferenceOperation, conferenceOperationList } from './conferences/conference-operations.ts';
import { deleteOperation } from './calls/delete.ts';
import { invite } from './calls/invite.ts';
import { inviteByIvr } from './calls/invitebyivr.ts';
import { list } from './calls/list.ts';
import { lookup } from './calls/lookup.ts';
import { notify } from './calls/notify.ts';
import { read } from './calls/read.ts';
import { refer } from './calls/refer.ts';
import { referConf } from './calls/referconf.ts';
import { referReplaces } from './calls/referreplaces.ts';
import { sendDtmf } from './calls/send-dtmf.ts';
import { setupRecord } from './calls/setup-record.ts';
import { switchConf } from './calls/switchconf.ts';
import { setupBindings } from './calls/setup-bindings.ts';
import { stopHoldMelody } from './calls/stop-hold-melody.ts';
import { setupAsr } from './calls/setup-asr.ts';
import { transcribeOperation } from './calls/transcribe.ts';

/**
 * Every call operation, in the order of the specification's table, then what GET does. A new one is its file, its scenario,
 * and a line here.
 */
export const operations: readonly OperationDefinition[] = [
  invite,
  inviteByIvr,
  lookup,
  transcribeOperation,
  refer,
  referReplaces,
  switchConf,
  referConf,
  notify,
  sendDtmf,
  setupAsr,
  setupRecord,
  setupBindings,
  stopHoldMelody,
  deleteOperation,
  list,
  read,
];

/** An operation of either kind. */
export type AnyOperation =
  | { readonly kind: 'call'; readonly operation: OperationDefinition }
  | { readonly kind: 'conference'; readonly operation: ConferenceOperation };

/** The operations on calls and on conferences by name: components are made from it, and scenarios' requests look here. */
export const operationTable: ReadonlyMap<string, AnyOperation> = new Map(
  [
    ...operations.map((operation) => ({ kind: 'call', operation }) as const),
    ...conferenceOperationList.map((operation) => ({ kind: 'conference', operation }) as const),
  ].map((each) => [each.operation.name, each]),
);
