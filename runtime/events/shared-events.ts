/** What subscribers need of the events of a cluster. */
import type { DomainName } from '../domain-name/index.ts';
import type { EventBus, NodeEvent } from './event-bus.ts';
import type { Selected } from './selection.ts';

/** A subscription of a user in a domain. */
export interface SubscriptionName {
  readonly userId: string;
  readonly domain: DomainName;
  readonly id: string;
}

/** A subscription as it began. */
export interface Begun {
  readonly selection: Selected;
  /** Milliseconds since the epoch: `now` of its filter. */
  readonly since: number;
}

/** A number of the subscription, and the events of its domain after it. */
export interface Replay {
  readonly seq: number;
  readonly events: readonly NodeEvent[];
}

/** The entry by which another node can resume a subscription. */
export interface KeptSubscription {
  /** Its rights may have changed: numbers before this moment cannot be counted again. */
  changed(): void;
  /** The subscription is over: nobody can resume it. */
  end(): void;
  /** This node no longer has the subscription. */
  leave(): void;
}

export interface SharedEventsListener {
  /** Another node has this subscription now. */
  taken(name: SubscriptionName): void;
  /** The numbers of all subscriptions of this node end, as events may be missing. */
  lost(reason: string): void;
}

/** The events of all nodes, in one order a domain. */
export interface SharedEvents extends Pick<EventBus, 'subscribe'> {
  /** Number before the first delivery of a new subscription. */
  readonly first: number;
  /** Makes this node follow a domain. Await it before a subscription begins. */
  open(domain: DomainName): Promise<void>;
  /**
   * Finds a subscription that another node, or an earlier process, kept.
   * @param after number of the last event that the client has
   * @param resume begins the subscription here, before the next event comes
   * @returns undefined for an unknown one, or when events after the number are gone
   */
  recall<T>(name: SubscriptionName, after: number, resume: (begun: Begun, replay: Replay) => T): Promise<T | undefined>;
  /** Keeps a subscription for other nodes. @param subscription its present number */
  keep(name: SubscriptionName, begun: Begun, subscription: { readonly seq: number }): KeptSubscription;
  follow(listener: SharedEventsListener): void;
}
