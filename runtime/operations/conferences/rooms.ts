/** The operations on conferences as a whole. */
import { Type } from 'typebox';
import { ConferenceId, ConferenceRecord } from '../answer/conference-record.ts';
import { plain } from '../answer/plain.ts';
import { defineOperation, touched } from '../definition.ts';
import { conferenceOf, conferenceSelector } from '../request/conference.ts';

const EXAMPLE = { confid: 'conf-5a51b213' };

/** Lists conferences. Over HTTP that is GET on the collection. */
export const listConferences = defineOperation({
  name: 'list_conferences',
  summary: 'Lists the live conferences of the domain, oldest first.',
  parameters: Type.Object({}),
  response: Type.Object({
    conferences: Type.Array(ConferenceRecord, { description: 'As `GET /uc/conferences` answers them.' }),
  }),
  example: {},
  target: 'none',
  startsCall: false,
  plan: ({ conferences }, { scope }) => ({
    touches: () => [],
    perform: async () => ({ conferences: plain(await conferences.list(scope)) }),
  }),
});

/** Reads a conference. Over HTTP that is GET on it. */
export const readConference = defineOperation({
  name: 'read_conference',
  summary: 'Reads one conference.',
  parameters: Type.Object({}),
  response: ConferenceRecord,
  example: EXAMPLE,
  target: 'conference',
  startsCall: false,
  plan: (tools, { scope, confid }) => ({
    touches: () => [],
    perform: async () => plain(await conferenceOf(tools, scope, confid)),
  }),
});

const key = (what: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: what }));

/** Finds conferences (specification, "Find by key"). The key of highest priority counts. */
export const lookupConferences = defineOperation({
  name: 'lookup_conferences',
  summary: 'Answers the ids of the conferences that a key means, oldest first. None is not an error.',
  parameters: Type.Object({
    dialogid: key('Id of a dialog of which the conference is one side.'),
    inviteid: key('Invite id of such a dialog.'),
    callid: key('Call-ID of a leg of such a dialog.'),
    uri: key('Remote URI of a leg of such a dialog.'),
    from: key('Number or login of a party of such a dialog.'),
    mode: Type.Optional(Type.Enum(['number', 'sipuser'], { default: 'number', description: 'What `from` is.' })),
    sipuserid: key('Id of a sipuser that takes part.'),
    sipuserlogin: key('Login of a sipuser that takes part.'),
    sipuserphonenumber: key('Phone number of a sipuser that takes part.'),
    userid: key('Id of a user one of whose sipusers takes part.'),
    confid: key('Id of the conference.'),
    confuri: key('SIP URI of the room.'),
    confroomnum: key('Number of the room, after the featurecode.'),
    confnumber: key('Conference number, or the phone number that leads to the room.'),
  }),
  response: Type.Array(Type.String()),
  example: { sipuserlogin: 'alice' },
  target: 'none',
  http: { on: 'conferences', method: 'POST', path: '!lookup', missing: 'Conference' },
  startsCall: false,
  plan: ({ conferences }, { scope, parameters }) => {
    const selector = conferenceSelector(parameters);
    return { touches: () => [], perform: async () => [...(await conferences.lookup(scope, selector))] };
  },
});

/** Ends a conference (specification, "Conferences (own)"). */
export const terminateConference = defineOperation({
  name: 'terminate_conference',
  summary: 'Ends a conference: BYE to every participant, CANCEL to every ringing phone.',
  parameters: Type.Object({}),
  response: Type.Object({ confid: ConferenceId }),
  example: EXAMPLE,
  target: 'conference',
  http: { on: 'conferences', method: 'DELETE', path: '/{confid}', dryRun: true },
  startsCall: false,
  plan: ({ rooms, dialogs }, { scope, confid }) => ({
    touches: () => rooms.dialogs(confid).map((id) => touched(dialogs, scope.domain, id)),
    perform: () => {
      rooms.terminate(confid);
      return { confid };
    },
  }),
});
