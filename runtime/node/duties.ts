/** What a node does, by its roles. */
import type { Role } from '../config/index.ts';
import type { CallDuties } from '../switch/index.ts';

export interface Duties extends CallDuties {
  /** Takes calls from the SIP servers. */
  readonly calls: boolean;
  /** Serves REST, the console and the browser phone; else health and figures alone. */
  readonly rest: boolean;
  /** Call control works where one node of the cluster has this one. */
  readonly callControl: boolean;
}

/** The only place that looks at the roles of this node. Its parts are told what they do. */
export function dutiesOf(roles: ReadonlySet<Role>): Duties {
  return {
    rest: roles.has('mware'),
    calls: roles.has('b2b'),
    rooms: roles.has('conf'),
    trunks: roles.has('esg'),
    callControl: roles.has('callstore'),
    scenarios: roles.has('ivr'),
  };
}
