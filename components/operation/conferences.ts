import { type Static, Type } from 'typebox';
import {
  CONFERENCE_SELECTOR_KEYS,
  type ConferenceSelector,
  type ConferenceStore,
} from '../../runtime/callstore/conference-store.ts';
import type { ConferenceView, ParticipantView, TopologyEntry } from '../../runtime/callstore/conference-view.ts';
import { TopologyError } from '../../runtime/conference/topology.ts';
import type { ConferenceControl } from './conference-control.ts';
import { notApplicable, OperationError } from './errors.ts';
import { NumberWithTail, ParameterError, parseParameters } from './parameters.ts';
import type { OperationsServices } from './operations.ts';
import type { Scope } from './target.ts';

/** Body of "add participant". */
export const AddParticipantParameters = Type.Object({
  to: NumberWithTail("Number to call; the first ' or , starts a DTMF tail, every later one is a pause of 1 s."),
});

const TopologyCommandSchema = Type.Object({
  from: Type.String({ maxLength: 64, description: 'Id of the speaker; `*`: everybody.' }),
  to: Type.String({ maxLength: 64, description: 'Id of the listener; `*`: everybody.' }),
  enabled: Type.Boolean({ description: 'Whether `from` is heard by `to`.' }),
});

/** Body of "change topology": commands, carried out in order, all or none. */
export const TopologyCommands = Type.Array(TopologyCommandSchema, { maxItems: 10_000 });
export type TopologyCommands = Static<typeof TopologyCommands>;

const key = (what: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: what }));

/** Body of "find by key" (specification, "Find by key"): the first that is there counts. */
export const ConferenceLookup = Type.Object({
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
});

/**
 * The operations on live conferences (specification, "Conferences (own)"; decisions, "Conferences"). A conference that the
 * scope may not see is not there. All throw OperationError, and nothing has happened then.
 */
export interface ConferenceOperations {
  list(scope: Scope): Promise<readonly ConferenceView[]>;
  read(scope: Scope, confid: string): Promise<ConferenceView>;
  /** Ids, oldest first. @throws ParameterError without a key */
  lookup(scope: Scope, given: unknown): Promise<readonly string[]>;
  /** Queued when it settles. */
  terminate(scope: Scope, confid: string): Promise<{ readonly confid: string }>;
  participants(scope: Scope, confid: string): Promise<readonly ParticipantView[]>;
  participant(scope: Scope, confid: string, participantid: string): Promise<ParticipantView>;
  /** @throws ParameterError */
  addParticipant(scope: Scope, confid: string, given: unknown): Promise<ParticipantRef>;
  removeParticipant(scope: Scope, confid: string, participantid: string): Promise<ParticipantRef>;
  topology(scope: Scope, confid: string): Promise<readonly TopologyEntry[]>;
  /** @throws ParameterError */
  changeTopology(scope: Scope, confid: string, given: unknown): Promise<readonly TopologyEntry[]>;
}

export interface ParticipantRef {
  readonly confid: string;
  readonly participantid: string;
}

/** @param overload says why no further call may begin, when that is so */
export function conferenceOperations(
  store: ConferenceStore,
  control: ConferenceControl,
  overload: OperationsServices['overload'] = () => undefined,
): ConferenceOperations {
  const find = async (scope: Scope, confid: string): Promise<ConferenceView> => {
    const conference = await store.read(scope, confid);
    if (conference === undefined) throw notFound('Conference');
    return conference;
  };

  /** What the control gives; it may be over by now. */
  const present = <T>(found: T | undefined): T => {
    if (found === undefined) throw notFound('Conference');
    return found;
  };

  const participants = async (scope: Scope, confid: string) => {
    await find(scope, confid);
    return present(control.participants(confid));
  };

  return {
    list: (scope) => store.list(scope),
    read: find,
    lookup: async (scope, given) => store.lookup(scope, conferenceSelector(parseParameters(ConferenceLookup, given))),
    terminate: async (scope, confid) => {
      await find(scope, confid);
      control.terminate(confid);
      return { confid };
    },
    participants,
    participant: async (scope, confid, participantid) => {
      const found = (await participants(scope, confid)).find((each) => each.participantid === participantid);
      if (found === undefined) throw notFound('Call/Participant');
      return found;
    },
    addParticipant: async (scope, confid, given) => {
      const { to } = parseParameters(AddParticipantParameters, given);
      await find(scope, confid);
      const refused = overload();
      if (refused) throw new OperationError({ kind: 'overload', ...refused });
      const added = present(control.addParticipant(confid, to));
      if (added === 'full') {
        throw notApplicable('to', 'the conference is full');
      }
      return { confid, participantid: added.participantid };
    },
    removeParticipant: async (scope, confid, participantid) => {
      await find(scope, confid);
      if (!control.removeParticipant(confid, participantid)) {
        throw notFound('Call/Participant');
      }
      return { confid, participantid };
    },
    topology: async (scope, confid) => {
      await find(scope, confid);
      return present(control.topology(confid));
    },
    changeTopology: async (scope, confid, given) => {
      const commands = topologyCommands(given);
      await find(scope, confid);
      try {
        return present(await control.changeTopology(confid, commands));
      } catch (error) {
        if (!(error instanceof TopologyError)) throw error;
        throw notApplicable(error.field, error.reason);
      }
    },
  };
}

/** @throws ParameterError naming the command and its field, e.g. `2.enabled` */
function topologyCommands(given: unknown): TopologyCommands {
  if (!Array.isArray(given)) throw new ParameterError('', 'the commands must be an array');
  return given.map((command: unknown, index) => {
    try {
      return parseParameters(TopologyCommandSchema, command);
    } catch (error) {
      if (!(error instanceof ParameterError)) throw error;
      throw new ParameterError(`${index}${error.field === '' ? '' : `.${error.field}`}`, error.reason);
    }
  });
}

function notFound(entity: string): OperationError {
  return new OperationError({ kind: 'not_found', entity });
}

/**
 * The one key of highest priority that is there.
 * @param prefix of the parameters' names, e.g. `refer`
 * @throws ParameterError without any
 */
export function conferenceSelector(given: Readonly<Record<string, unknown>>, prefix = ''): ConferenceSelector {
  const name = CONFERENCE_SELECTOR_KEYS.find((each) => given[prefix + each] !== undefined);
  const value = name === undefined ? undefined : given[prefix + name];
  if (name === undefined || typeof value !== 'string') {
    const keys = CONFERENCE_SELECTOR_KEYS.map((each) => prefix + each).join(', ');
    throw new ParameterError(`${prefix}confid`, `name the conference by one of ${keys}`);
  }
  const { mode } = given;
  return { [name]: value, ...(name === 'from' && (mode === 'number' || mode === 'sipuser') ? { mode } : {}) };
}
