/** A node as the others see it. */

export interface Load {
  readonly calls: number;
  readonly runs: number;
  /** Subscriptions of phones. */
  readonly subscriptions: number;
}

/** What a node says of itself with each heartbeat. */
export interface Member {
  /** Of the process: another one after each start. */
  readonly id: string;
  /** The name that its operator gave it. */
  readonly node: string;
  readonly site: string;
  readonly roles: readonly string[];
  /** Of the program. */
  readonly version: string;
  /** URL of its REST service. */
  readonly http: string;
  /** Milliseconds since the epoch. */
  readonly started: number;
  readonly state: 'accepting' | 'draining' | 'ending';
  readonly load: Load;
  /** Number of the heartbeat; absent where the node tells itself otherwise. */
  readonly beat?: number;
}

export function isMember(value: unknown): value is Member {
  const { id, node, load, roles } = (value ?? {}) as Partial<Member>;
  const isNamed = typeof id === 'string' && typeof node === 'string' && Array.isArray(roles);
  return isNamed && typeof load === 'object' && load !== null;
}
