import type { OperationDefinition } from './definition.ts';
import { type ConferenceOperation, conferenceOperationList } from './conference-operations.ts';
import { deleteOperation } from './operations/delete.ts';
import { invite } from './operations/invite.ts';
import { inviteByIvr } from './operations/invitebyivr.ts';
import { list } from './operations/list.ts';
import { lookup } from './operations/lookup.ts';
import { notify } from './operations/notify.ts';
import { read } from './operations/read.ts';
import { refer } from './operations/refer.ts';
import { referConf } from './operations/referconf.ts';
import { referReplaces } from './operations/referreplaces.ts';
import { sendDtmf } from './operations/send-dtmf.ts';
import { setupRecord } from './operations/setup-record.ts';
import { switchConf } from './operations/switchconf.ts';
import { setupBindings } from './operations/setup-bindings.ts';
import { stopHoldMelody } from './operations/stop-hold-melody.ts';
import { setupAsr } from './operations/setup-asr.ts';
import { transcribeOperation } from './operations/transcribe.ts';

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
