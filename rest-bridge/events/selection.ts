/** The selection of a subscription, limited to the events that its session may read. */
import { type Static, Type } from 'typebox';
import {
  namesOnDemand,
  type NodeEvent,
  pathOfEvent,
  type Sight,
  SelectedFields,
  selectionOf,
} from '../../runtime/events/index.ts';

/** Seconds. */
export const MAX_EXPIRES = 3_600;

/** The selection of a subscription (decisions, "subscribe"). */
export const SelectionFields = {
  id: Type.Optional(Type.String({ minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9_.-]+$' })),
  ...SelectedFields,
};
const Selection = Type.Object(SelectionFields);
export type Selection = Static<typeof Selection>;

/** By class, the path of a user's own calls or rooms: its right suffices for the events of these. */
const OWN_PATHS = new Map([
  ['callevents', '/user/sip/calls'],
  ['confevents', '/uc/conferences_by_participation'],
]);

/**
 * Compiles a selection. Events that `allows` refuses are left out: it checks the GET permission for their path. Events
 * of a user's own calls and rooms need only the own path.
 *
 * @param since milliseconds since the epoch: `now` of the filter
 * @throws FilterError for an invalid filter
 */
export function selector(
  allows: (path: string) => boolean,
  userId: string,
  selection: Omit<Selection, 'id'>,
  since?: number,
): Sight {
  const isOwn = (event: NodeEvent): boolean => {
    const path = OWN_PATHS.get(event.class);
    return path !== undefined && event.users?.includes(userId) === true && allows(path);
  };
  return {
    select: selectionOf(selection, since),
    allows: (event) => allows(pathOfEvent(event)) || isOwn(event),
    onDemand: namesOnDemand(selection.events),
  };
}
