/** The operations on the participants of a conference. */
import { Type } from 'typebox';
import { PARTICIPANT_STATES } from '../../callstore/index.ts';
import { ConferenceId, ParticipantId, ParticipantRecord } from '../answer/conference-record.ts';
import { plain } from '../answer/plain.ts';
import { defineOperation, touched } from '../definition.ts';
import { notApplicable, OperationError } from '../errors.ts';
import { notFound, present } from '../request/conference.ts';
import { NumberWithTail } from '../request/parameters.ts';

const CONFID = 'conf-5a51b213';
const ParticipantRef = Type.Object({ confid: ConferenceId, participantid: ParticipantId });

/** Lists participants. Over HTTP that is GET on them. */
export const listParticipants = defineOperation({
  name: 'list_participants',
  summary: 'Lists the participants of a conference.',
  parameters: Type.Object({}),
  response: Type.Object({
    participants: Type.Array(ParticipantRecord, {
      description: `With \`participantid\`, \`state\` (${PARTICIPANT_STATES.join(', ')}), \`callid\`, \`luri\`, \`ltag\`, \`ruri\`, \`rtag\`, \`moderator\`, \`talking\`.`,
    }),
  }),
  example: { confid: CONFID },
  target: 'conference',
  startsCall: false,
  plan: ({ rooms }, { confid }) => ({
    touches: () => [],
    perform: () => ({ participants: plain(present(rooms.participants(confid))) }),
  }),
});

/** Calls a number from a conference (specification, "Conferences (own)"). */
export const addParticipant = defineOperation({
  name: 'add_participant',
  summary: 'Calls somebody from a conference, without waiting for an answer.',
  parameters: Type.Object({
    to: NumberWithTail("Number to call; the first ' or , starts a DTMF tail, every later one is a pause of 1 s."),
  }),
  response: ParticipantRef,
  example: { confid: CONFID, to: '102' },
  target: 'conference',
  http: { on: 'conferences', method: 'POST', path: '/{confid}/participants', dryRun: true },
  startsCall: true,
  plan: ({ rooms, overload }, { scope, confid, parameters: { to } }) => {
    const refused = overload?.(scope.domain);
    if (refused) throw new OperationError({ kind: 'overload', ...refused });
    const reason = rooms.refusesParticipant(confid, to);
    if (reason !== undefined) throw notApplicable('to', reason);
    return {
      touches: () => [],
      perform: () => ({ confid, participantid: present(rooms.addParticipant(confid, to)).participantid }),
    };
  },
});

/**
 * Removes a participant from a conference (specification, "Conferences (own)"). A missing conference and a missing
 * participant have one error (specification, "Specific errors").
 */
export const removeParticipant = defineOperation({
  name: 'remove_participant',
  summary: 'Takes a participant out of a conference.',
  parameters: Type.Object({}),
  response: ParticipantRef,
  example: { confid: CONFID, participantid: '9f2c11d0a3b4' },
  target: 'participant',
  http: { on: 'conferences', method: 'DELETE', path: '/{confid}/participants/{participantid}', dryRun: true },
  startsCall: false,
  plan: ({ rooms, dialogs }, { scope, confid, participantid }) => {
    const own = rooms.dialogs(confid, participantid);
    if (own.length === 0) throw notFound('Call/Participant');
    return {
      touches: () => own.map((id) => touched(dialogs, scope.domain, id)),
      perform: () => {
        if (!rooms.removeParticipant(confid, participantid)) throw notFound('Call/Participant');
        return { confid, participantid };
      },
    };
  },
});
