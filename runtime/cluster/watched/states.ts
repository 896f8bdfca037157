/** What nodes tell each other of states that they watch. */
import type { NatsLink } from '../link/nats-link.ts';
import type { Log } from '../log.ts';
import type { Settlements } from '../loss/settlements.ts';
import type { Membership } from '../members/membership.ts';
import type { Nodes } from '../nodes.ts';

/** What this node has. */
export interface OwnStates {
  /** @returns a value of JSON; undefined: nothing that the others need to know */
  state(topic: string): unknown;
  /** The states of other nodes have changed. */
  changed(topic: string): void;
}

/** States of a node's topics; a topic without one has none. */
export interface Told {
  /** Of the process. */
  readonly node: string;
  /** Counts what it tells: a later number has the newer states. */
  readonly at: number;
  readonly topics: readonly string[];
  readonly states: Readonly<Record<string, unknown>>;
}

export interface StatesPlace {
  readonly link: NatsLink;
  readonly members: Membership;
  readonly nodes: Nodes;
  readonly settlements: Settlements;
  /** Of this process. */
  readonly id: string;
  readonly log: Log;
}

/** True while NATS and the process of this id are. */
export function isThere({ link, members }: Pick<StatesPlace, 'link' | 'members'>, id: string): boolean {
  return link.connection !== undefined && !members.goneSignal(id).aborted;
}
