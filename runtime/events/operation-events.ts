/** Ends of operations as events: `callevents.operation_finished`. */
import type { DomainName } from '../domain-name/index.ts';
import type { EventBus, NodeEvent } from './event-bus.ts';

/** A finished operation. */
interface Finished {
  readonly record: {
    readonly id: string;
    readonly domain: DomainName;
    readonly userid?: string;
    readonly operation: string;
    readonly outcome?: string;
    readonly result?: string;
    readonly fields?: NodeEvent['data'];
  };
  /** The last dialog concerned, and the id of the call before it; empty without one. */
  readonly dialogid: string;
  readonly inviteid: string;
}

/** Makes the listener that publishes the end of each operation to its domain. */
export function operationEvents(bus: EventBus): (finished: Finished) => void {
  return ({ record, dialogid, inviteid }) => {
    const { id, domain, userid, operation, outcome = '', result = '', fields = {} } = record;
    const call = { inviteid, connectionid: inviteid, dialogid };
    const data = { ...call, id, operation, ...(userid === undefined ? {} : { userid }), outcome, result, fields };
    const users = userid === undefined ? [] : [userid];
    bus.publish({ domain, class: 'callevents', type: 'operation_finished', data, users });
  };
}
