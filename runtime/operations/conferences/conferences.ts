import { type Static, Type } from 'typebox';
import {
  CONFERENCE_SELECTOR_KEYS,
  type ConferenceSelector,
  type ConferenceStore,
} from '../../callstore/conference-store.ts';
import type { ConferenceView, ParticipantView, TopologyEntry } from '../../callstore/conference-view.ts';
import { TopologyError } from '../../conference/topology.ts';
import type { DialogPort } from '../../runs/ports/dialogs.ts';
import type { ConferenceControl } from './control.ts';
import { touched, type Touched } from '../definition.ts';
import { notApplicable, OperationError } from '../errors.ts';
import { NumberWithTail, ParameterError, parseParameters } from '../request/parameters.ts';
import type { OperationsServices } from '../operations.ts';
import type { Scope } from '../request/target.ts';

/** Body of "add participant". */
export const AddParticipantParameters = Type.Object(
  { to: NumberWithTail("Number to call; the first ' or , starts a DTMF tail, every later one is a pause of 1 s.") },
  { additionalProperties: false },
);

const TopologyCommandSchema = Type.Object(
  {
    from: Type.String({ maxLength: 64, description: 'Id of the speaker; `*`: everybody.' }),
    to: Type.String({ maxLength: 64, description: 'Id of the listener; `*`: everybody.' }),
    enabled: Type.Boolean({ description: 'Whether `from` is heard by `to`.' }),
  },
  { additionalProperties: false },
);

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
  /**
   * What one of the operations that change something would touch; everything is checked, and nothing is done.
   */
  preview(scope: Scope, change: ConferenceChange): Promise<readonly Touched[]>;
  participants(scope: Scope, confid: string): Promise<readonly ParticipantView[]>;
  participant(scope: Scope, confid: string, participantid: string): Promise<ParticipantView>;
  /** @throws ParameterError */
  addParticipant(scope: Scope, confid: string, given: unknown): Promise<ParticipantRef>;
  removeParticipant(scope: Scope, confid: string, participantid: string): Promise<ParticipantRef>;
  topology(scope: Scope, confid: string): Promise<readonly TopologyEntry[]>;
  /** @throws ParameterError */
  changeTopology(scope: Scope, confid: string, given: unknown): Promise<readonly TopologyEntry[]>;
}

/** An operation that changes who takes part, as it is tried without being done. */
export type ConferenceChange = { readonly confid: string } & (
  | { readonly operation: 'terminate_conference' }
  | { readonly operation: 'add_participant'; readonly given: unknown }
  | { readonly operation: 'remove_participant'; readonly participantid: string }
);

export interface ParticipantRef {
  readonly confid: string;
  readonly participantid: string;
}

export interface ConferenceServices {
  readonly store: ConferenceStore;
  readonly control: ConferenceControl;
  readonly dialogs: DialogPort;
  /** Says why no further call may begin, when that is so. */
  readonly overload?: OperationsServices['overload'];
}

export function conferenceOperations({ store, control, dialogs, overload }: ConferenceServices): ConferenceOperations {
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

  /** Checks all that can be known before somebody is called. */
  const invited = async (scope: Scope, confid: string, given: unknown): Promise<string> => {
    const { to } = parseParameters(AddParticipantParameters, given);
    await find(scope, confid);
    const refused = overload?.();
    if (refused) throw new OperationError({ kind: 'overload', ...refused });
    const reason = control.refusesParticipant(confid, to);
    if (reason !== undefined) throw notApplicable('to', reason);
    return to;
  };

  /** The conference or the participant is not there: one answer for both (specification, "Specific errors"). */
  const removable = async (scope: Scope, confid: string): Promise<void> => {
    if ((await store.read(scope, confid)) === undefined) throw notFound('Call/Participant');
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
    preview: async (scope, change) => {
      const { confid, operation } = change;
      const touches = (ids: readonly string[]) => ids.map((id) => touched(dialogs, scope.domain, id));
      if (operation === 'add_participant') {
        await invited(scope, confid, change.given);
        return [];
      }
      if (operation === 'terminate_conference') {
        await find(scope, confid);
        return touches(control.dialogs(confid));
      }
      await removable(scope, confid);
      const named = control.dialogs(confid, change.participantid);
      if (named.length === 0) throw notFound('Call/Participant');
      return touches(named);
    },
    addParticipant: async (scope, confid, given) => {
      const { participantid } = present(control.addParticipant(confid, await invited(scope, confid, given)));
      return { confid, participantid };
    },
    removeParticipant: async (scope, confid, participantid) => {
      await removable(scope, confid);
      if (!control.removeParticipant(confid, participantid)) throw notFound('Call/Participant');
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
