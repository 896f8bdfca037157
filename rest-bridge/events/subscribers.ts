/** Subscriptions to events. */
import { randomUUID } from 'node:crypto';
import { type EventBus, selectionKey, type Sink, Subscription } from '../../runtime/events/index.ts';
import type { Iam, Session } from '../../runtime/iam/index.ts';
import type { SubscriberObserver } from '../deps.ts';
import { RestError } from '../errors.ts';
import { MAX_EXPIRES, type Selection, selector } from './selection.ts';

const EVERYTHING = selectionKey({});
/** Subscriptions of one user in one domain. */
const MAX_PER_USER = 2_000;
/** Seconds for which a subscription without a connection continues to collect events. */
const MAX_DETACHED = 60;

/** A connection that has subscriptions. */
export interface Subscriber {
  /** Makes the receiver of a subscription's events. */
  sinkOf(id: string): Sink;
  /** Called when a subscription of this connection ends before the session. */
  ended(id: string, reason: string): void;
}

interface Entry {
  readonly subscription: Subscription;
  /** Its selection, to distinguish a renewal from a new subscription. */
  readonly selection: string;
  readonly subscriber: Subscriber;
  /** The session, for its present roles. */
  session: Session;
  readonly unwatch: () => void;
  timer: NodeJS.Timeout;
  /** Milliseconds since the epoch. */
  expires: number;
}

export interface Subscribed {
  readonly id: string;
  readonly sink: Sink;
  /** False: events since `after` are lost, and the client must read the state anew. */
  readonly resumed: boolean;
  readonly seq: number;
  /** Seconds. */
  readonly expires: number;
}

/** The subscriptions of the node, by session user, domain and id: a reconnecting client gets the events in between. */
export class Subscribers {
  readonly #bus: EventBus;
  readonly #iam: Pick<Iam, 'allows' | 'watch'>;
  readonly #observer: Partial<SubscriberObserver>;
  readonly #entries = new Map<string, Map<string, Entry>>();

  constructor(bus: EventBus, iam: Pick<Iam, 'allows' | 'watch'>, observer: Partial<SubscriberObserver> = {}) {
    this.#observer = observer;
    this.#bus = bus;
    this.#iam = iam;
  }

  /**
   * Starts a subscription. The same id and selection on the same connection renew it, and its numbers continue; with `after` it
   * resumes after a lost connection. Otherwise the same id is a new subscription, from 1. A subscription with this id on
   * another connection ends, and that connection is notified.
   *
   * @param expires seconds
   * @throws RestError 429 for too many; BadParameterError for an invalid filter
   */
  subscribe(
    session: Session,
    { after, expires = MAX_EXPIRES, ...selection }: Selection & { after?: number; expires?: number },
    subscriber: Subscriber,
  ): Subscribed {
    const id = selection.id ?? randomUUID();
    const mine = this.#of(session);
    const known = mine.get(id);
    const asked = selectionKey(selection);
    const resumes = after !== undefined;
    // A subscription without a selection resumes with the earlier one.
    const isSame = known?.selection === asked || (resumes && asked === EVERYTHING);
    const before = isSame && (resumes || known?.subscriber === subscriber) ? known : undefined;
    if (known === undefined && mine.size >= MAX_PER_USER) {
      throw new RestError('CANNOT_APPLY', { field: 'id', reason: `a user has at most ${MAX_PER_USER} subscriptions` });
    }
    const sink = subscriber.sinkOf(id);
    const subscription = before?.subscription ?? this.#subscription(session, id, selection);
    const seconds = Math.min(expires, MAX_EXPIRES);
    const entry: Entry = {
      subscription,
      selection: before?.selection ?? asked,
      subscriber,
      session,
      unwatch: this.#iam.watch(session, (now) => this.#changed(session, id, now)),
      timer: this.#endAfter(session, id, seconds),
      expires: Date.now() + seconds * 1_000,
    };
    if (known !== undefined) {
      clearTimeout(known.timer);
      known.unwatch();
      const isTaken = known.subscriber !== subscriber && known.subscription.attached;
      if (known.subscription !== subscription) known.subscription.close();
      if (isTaken) known.subscriber.ended(id, 'another connection took it over');
    }
    mine.set(id, entry);
    const complete = subscription.attach(sink, after ?? subscription.seq);
    const resumed = !resumes || (before !== undefined && complete);
    if (!resumed) this.#observer.eventsLost?.();
    return {
      id,
      sink,
      resumed,
      seq: subscription.seq,
      expires: seconds,
    };
  }

  /** The connection of a subscriber that reads too slowly ends. */
  dropped(transport: 'websocket' | 'sse'): void {
    this.#observer.subscriberDropped?.(transport);
  }

  /** Ends a subscription; an unknown id is not an error. */
  end(session: Session, id: string): void {
    const mine = this.#entries.get(keyOf(session));
    const entry = mine?.get(id);
    if (mine === undefined || entry === undefined) return;
    forget(entry);
    mine.delete(id);
    if (mine.size === 0) this.#entries.delete(keyOf(session));
  }

  /** Renews the lifetime of a subscription. */
  renew(session: Session, id: string): void {
    const entry = this.#entries.get(keyOf(session))?.get(id);
    if (entry === undefined) return;
    clearTimeout(entry.timer);
    entry.timer = this.#endAfter(session, id, MAX_EXPIRES);
    entry.expires = Date.now() + MAX_EXPIRES * 1_000;
  }

  /** Detaches a closed connection: the subscription continues to collect for a while. */
  detach(session: Session, { id, sink }: Pick<Subscribed, 'id' | 'sink'>): void {
    const entry = this.#entries.get(keyOf(session))?.get(id);
    if (entry === undefined) return;
    entry.subscription.detach(sink);
    if (entry.subscription.attached) return;
    clearTimeout(entry.timer);
    const left = (entry.expires - Date.now()) / 1_000;
    entry.timer = this.#endAfter(session, id, Math.max(0, Math.min(MAX_DETACHED, left)));
  }

  close(): void {
    for (const mine of this.#entries.values()) {
      for (const entry of mine.values()) forget(entry);
    }
    this.#entries.clear();
  }

  /** Its roles are those of the entry at the time of each event. */
  #subscription(session: Session, id: string, selection: Selection): Subscription {
    const allows = (path: string): boolean => {
      const now = this.#entries.get(keyOf(session))?.get(id)?.session ?? session;
      return this.#iam.allows(now, 'GET', path);
    };
    return new Subscription(id, this.#bus, session.domain, selector(allows, session.userId, selection));
  }

  #changed(session: Session, id: string, now: Session | undefined): void {
    const entry = this.#entries.get(keyOf(session))?.get(id);
    if (now === undefined || keyOf(now) !== keyOf(session)) this.end(session, id);
    else if (entry !== undefined) entry.session = now;
  }

  #of(session: Session): Map<string, Entry> {
    const key = keyOf(session);
    const mine = this.#entries.get(key) ?? new Map<string, Entry>();
    this.#entries.set(key, mine);
    return mine;
  }

  #endAfter(session: Session, id: string, seconds: number): NodeJS.Timeout {
    const expire = (): void => {
      const entry = this.#entries.get(keyOf(session))?.get(id);
      const wasAttached = entry?.subscription.attached === true;
      this.end(session, id);
      if (wasAttached) entry?.subscriber.ended(id, 'expired');
    };
    return setTimeout(expire, seconds * 1_000).unref();
  }
}

function forget({ timer, unwatch, subscription }: Entry): void {
  clearTimeout(timer);
  unwatch();
  subscription.close();
}

function keyOf({ userId, domain }: Session): string {
  return `${userId} ${domain}`;
}
