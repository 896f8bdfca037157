/** What the switch needs of a cluster. */
import type { DomainName } from '../../domain-name/index.ts';

/** The other nodes of the cluster, and who has which room. */
export interface NodeLink {
  /** Id of this node's process; another one after each start. */
  readonly self: string;
  /** Answers a request of the other nodes. */
  serve(method: string, handler: (asked: unknown) => unknown): void;
  /**
   * Asks one node.
   * @param id of its process
   * @throws when it is gone, does not answer in time, failed, or NATS is away
   */
  ask(id: string, method: string, asked: unknown, timeoutMs: number): Promise<unknown>;
  /**
   * Asks all other nodes at once, from memory.
   * @throws while NATS is away, or a living node does not answer
   */
  askAll<Answer>(method: string, asked: unknown): Promise<readonly { readonly id: string; readonly answer: Answer }[]>;
  /** Aborted when the process is gone, at once for an unknown one. */
  gone(id: string): AbortSignal;
  /** True for a dead process when its calls are ended or adopted, and for one that has left. */
  isSettled(id: string): boolean;
  onSettled(listener: {
    /** The process is dead, and its calls are ended or adopted; or it has left. */
    settled(id: string): void;
    /** It was not dead. */
    returned(id: string): void;
  }): void;
  /**
   * The node that has the room of this number. Without one, that is this node from now on, until `releaseRoom`.
   * @returns id of the process
   * @throws while NATS is away
   */
  roomOwner(domain: DomainName, number: string): Promise<string>;
  /** The same, without becoming its node. @throws while NATS is away */
  findRoom(domain: DomainName, number: string): Promise<string | undefined>;
  /** The other nodes that accept calls and keep rooms, or run scenarios, those with the fewest calls first. */
  withRole(role: 'conf' | 'ivr'): readonly string[];
  /** The room is over: any node may begin the next one. */
  releaseRoom(domain: DomainName, number: string): void;
  /** Lets the nodes know each other's states of what their phones watch. */
  shareStates(own: OwnStates): SharedStates;
}

/** States of this node, by topic. */
export interface OwnStates {
  /** @returns a value of JSON; undefined: nothing that the others need to know */
  state(topic: string): unknown;
  /** The states of other nodes have changed. */
  changed(topic: string): void;
}

/** States of the other nodes. */
export interface SharedStates {
  /** Watches a topic until `unwatch`. @returns resolves when the states of the other nodes are known */
  watch(topic: string): Promise<void>;
  unwatch(topic: string): void;
  /** As of `watch`; undefined for what is not watched. */
  known(topic: string): Promise<void> | undefined;
  /** One of each node that has any, of what is watched. */
  of(topic: string): readonly unknown[];
  /** The state of this node has changed. */
  changed(topic: string): void;
}
