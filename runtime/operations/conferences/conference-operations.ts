import { type Static, type TObject, type TSchema, Type } from 'typebox';
import { PARTICIPANT_STATES } from '../../callstore/conference-view.ts';
import type { Value } from '../../language/values.ts';
import {
  AddParticipantParameters,
  ConferenceLookup,
  type ConferenceOperations,
  TopologyCommands,
} from './conferences.ts';
import { plain } from '../answer/plain.ts';
import type { Scope } from '../request/target.ts';

/** One operation on live conferences, as scenarios have it: what `/uc/conferences` offers over HTTP. */
export interface ConferenceOperation<Parameters extends TObject = TObject> {
  /** Lower case with underscores; of a component with `operation.` before it. */
  readonly name: string;
  readonly summary: string;
  readonly parameters: Parameters;
  readonly response: TSchema;
  readonly example: Readonly<Record<string, Value>>;
  readonly target: 'none';
  readonly startsCall: false;
  /** @throws OperationError, ParameterError */
  run(conferences: ConferenceOperations, scope: Scope, parameters: Static<Parameters>): Promise<Value>;
}

function define<Parameters extends TObject>(
  operation: Omit<ConferenceOperation<Parameters>, 'target' | 'startsCall'>,
): ConferenceOperation {
  return { ...operation, target: 'none', startsCall: false };
}

const confid = Type.String({ minLength: 1, maxLength: 64, description: 'Id of the conference.' });
const participantid = Type.String({ minLength: 1, maxLength: 64, description: 'Id of the participant.' });
const Topology = Type.Object({
  topology: Type.Array(Type.Object({ from: Type.String(), to: Type.String(), enabled: Type.Boolean() }), {
    description: '`{from, to, enabled}`: first that everybody hears everybody, then the pairs for which it is not so.',
  }),
});
const Conference = {
  confid: Type.String({ description: 'Id of the conference.' }),
  confroomnum: Type.String({ description: 'Number of the room, after the featurecode.' }),
  confnumber: Type.String({ description: 'Hexadecimal number.' }),
  uri: Type.String({ description: 'URI of the room.' }),
  site: Type.String({ description: 'Site that serves it.' }),
  startts: Type.Integer({ description: 'Since when, milliseconds since the epoch.' }),
  uris: Type.Array(Type.String(), { description: 'URIs of every participant.' }),
};
const Participant = Type.Object({
  participantid: Type.String(),
  state: Type.Enum([...PARTICIPANT_STATES]),
  callid: Type.String(),
  luri: Type.String(),
  ltag: Type.String(),
  ruri: Type.String(),
  rtag: Type.String(),
});
const EXAMPLE_ID = 'conf-5a51b213';

/** Every operation on conferences, in the order of the specification's table. */
export const conferenceOperationList: readonly ConferenceOperation[] = [
  define({
    name: 'list_conferences',
    summary: 'Lists the live conferences of the domain, oldest first.',
    parameters: Type.Object({}),
    response: Type.Object({
      conferences: Type.Array(Type.Object(Conference), { description: 'As `GET /uc/conferences` answers them.' }),
    }),
    example: {},
    run: async (conferences, scope) => ({ conferences: plain(await conferences.list(scope)) }),
  }),
  define({
    name: 'read_conference',
    summary: 'Reads one conference.',
    parameters: Type.Object({ confid }),
    response: Type.Object(Conference),
    example: { confid: EXAMPLE_ID },
    run: async (conferences, scope, parameters) => plain(await conferences.read(scope, parameters.confid)),
  }),
  define({
    name: 'lookup_conferences',
    summary: 'Answers the ids of the conferences that a key means, oldest first. None is not an error.',
    parameters: ConferenceLookup,
    response: Type.Array(Type.String()),
    example: { sipuserlogin: 'alice' },
    run: async (conferences, scope, parameters) => [...(await conferences.lookup(scope, parameters))],
  }),
  define({
    name: 'terminate_conference',
    summary: 'Ends a conference: BYE to every participant, CANCEL to whoever still rings.',
    parameters: Type.Object({ confid }),
    response: Type.Object({ confid }),
    example: { confid: EXAMPLE_ID },
    run: async (conferences, scope, parameters) => ({ ...(await conferences.terminate(scope, parameters.confid)) }),
  }),
  define({
    name: 'list_participants',
    summary: 'Lists the participants of a conference.',
    parameters: Type.Object({ confid }),
    response: Type.Object({
      participants: Type.Array(Participant, {
        description: `With \`participantid\`, \`state\` (${PARTICIPANT_STATES.join(', ')}), \`callid\`, \`luri\`, \`ltag\`, \`ruri\`, \`rtag\`.`,
      }),
    }),
    example: { confid: EXAMPLE_ID },
    run: async (conferences, scope, parameters) => ({
      participants: plain(await conferences.participants(scope, parameters.confid)),
    }),
  }),
  define({
    name: 'add_participant',
    summary: 'Calls somebody from a conference, without waiting for an answer.',
    parameters: Type.Object({ confid, ...AddParticipantParameters.properties }),
    response: Type.Object({ confid, participantid }),
    example: { confid: EXAMPLE_ID, to: '102' },
    run: async (conferences, scope, { confid: id, to }) => ({
      ...(await conferences.addParticipant(scope, id, { to })),
    }),
  }),
  define({
    name: 'remove_participant',
    summary: 'Takes a participant out of a conference.',
    parameters: Type.Object({ confid, participantid }),
    response: Type.Object({ confid, participantid }),
    example: { confid: EXAMPLE_ID, participantid: '9f2c11d0a3b4' },
    run: async (conferences, scope, { confid: id, participantid: whom }) => ({
      ...(await conferences.removeParticipant(scope, id, whom)),
    }),
  }),
  define({
    name: 'read_topology',
    summary: 'Tells who hears whom in a conference.',
    parameters: Type.Object({ confid }),
    response: Topology,
    example: { confid: EXAMPLE_ID },
    run: async (conferences, scope, parameters) => ({
      topology: plain(await conferences.topology(scope, parameters.confid)),
    }),
  }),
  define({
    name: 'change_topology',
    summary: 'Changes who hears whom: commands, carried out in order, all or none.',
    parameters: Type.Object({ confid, commands: TopologyCommands }),
    response: Topology,
    example: { confid: EXAMPLE_ID, commands: [{ from: '9f2c11d0a3b4', to: '*', enabled: false }] },
    run: async (conferences, scope, { confid: id, commands }) => ({
      topology: plain(await conferences.changeTopology(scope, id, commands)),
    }),
  }),
];
