/** Finds the conferences that parameters name. */
import {
  CONFERENCE_SELECTOR_KEYS,
  type ConferenceSelector,
  type ConferenceStore,
  type ConferenceView,
  type ParticipantView,
} from '../../callstore/index.ts';
import type { ConferenceControl } from '../conferences/control.ts';
import { OperationError } from '../errors.ts';
import { ParameterError } from './parameters.ts';
import type { Scope } from './target.ts';

/** The error of a missing entity, e.g. `Conference`. */
export function notFound(entity: string): OperationError {
  return new OperationError({ kind: 'not_found', entity });
}

/** The defined answer of a `ConferenceControl`. @throws OperationError when the conference has just ended */
export function present<T>(found: T | undefined): T {
  if (found === undefined) throw notFound('Conference');
  return found;
}

/**
 * A live conference of the scope.
 * @param entity named by the error
 * @throws OperationError when the scope sees no such conference
 */
export async function conferenceOf(
  { conferences }: { readonly conferences: Pick<ConferenceStore, 'read'> },
  scope: Scope,
  confid: string,
  entity = 'Conference',
): Promise<ConferenceView> {
  const conference = await conferences.read(scope, confid);
  if (conference === undefined) throw notFound(entity);
  return conference;
}

/** Reads rooms of this node, or of all nodes. */
export interface RoomReader {
  participants(
    confid: string,
  ): ReturnType<ConferenceControl['participants']> | Promise<ReturnType<ConferenceControl['participants']>>;
}

/**
 * The participants of a live conference of the scope.
 * @throws OperationError when the scope sees no such conference
 */
export async function participantsOf(
  tools: {
    readonly conferences: Pick<ConferenceStore, 'read'>;
    readonly rooms: RoomReader;
  },
  scope: Scope,
  confid: string,
): Promise<readonly ParticipantView[]> {
  await conferenceOf(tools, scope, confid);
  return present(await tools.rooms.participants(confid));
}

/**
 * The selector among the parameters; of several, the one of highest priority.
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
