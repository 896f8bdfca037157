import type { OperationDefinition } from './definition.ts';
import { addParticipant, listParticipants, removeParticipant } from './conferences/participants.ts';
import { listConferences, lookupConferences, readConference, terminateConference } from './conferences/rooms.ts';
import { changeTopology, readTopology } from './conferences/topology.ts';
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
 * All operations: those on calls in the order of the specification's table, then the reads of calls, then those on
 * conferences. A new operation needs its definition, a line here, and a scenario if it follows calls.
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
  listConferences,
  readConference,
  lookupConferences,
  terminateConference,
  listParticipants,
  addParticipant,
  removeParticipant,
  readTopology,
  changeTopology,
];
