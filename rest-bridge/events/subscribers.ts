/** Subscriptions to events. */
import { randomUUID } from 'node:crypto';
import {
  type Begun,
  type EventBus,
  type KeptSubscription,
  type Replay,
  selectionKey,
  type SharedEvents,
  type Sink,
  Subscription,
} from '../../runtime/events/index.ts';
import type { Iam, Session } from '../../runtime/iam/index.ts';
import type { SubscriberObserver } from '../deps.ts';
import { RestError } from '../errors.ts';
import { MAX_EXPIRES, type Selection, selector } from './selection.ts';

const EVERYTHING = selectionKey({});
/** Subscriptions of one user in one domain. */
const MAX_PER_USER = 2_000;
/** Seconds for which a subscription without a connection continues to collect events. */
const MAX_DETACHED = 60;

const TAKEN = 'another connection took it over';

/** A connection that has subscriptions. */
export interface Subscriber {
  /** Makes the receiver of a subscription's events. */
  sinkOf(id: string): Sink;
  /** Called when a subscription of this connection ends before the session. */
  ended(id: string, reason: string): void;
}

interface Entry {
  readonly subscription: Subscription;
  /** In a cluster, its entry for the other nodes. */
  readonly kept: KeptSubscription | undefined;
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

type Owner = Pick<Session, 'userId' | 'domain'>;

export interface Subscribed {
  readonly id: string;
  readonly sink: Sink;
  /** False: events since `after` are lost, and the client must read the state anew. */
  readonly resumed: boolean;
  readonly seq: number;
  /** Seconds. */
  readonly expires: number;
}

/** Of a subscription that waits for its client. */
const NOBODY: Subscriber = { sinkOf: () => () => undefined, ended: () => undefined };

/** The subscriptions of the node, by session user, domain and id: a reconnecting client gets the events in between. */
export class Subscribers {
  readonly #bus: Pick<EventBus, 'subscribe'>;
  readonly #iam: Pick<Iam, 'allows' | 'watch'>;
  readonly #observer: Partial<SubscriberObserver>;
  readonly #shared: SharedEvents | undefined;
  readonly #entries = new Map<string, Map<string, Entry>>();

  /** @param shared of a cluster, whose `prepare` has to be awaited before each `subscribe` */
  constructor(
    bus: Pick<EventBus, 'subscribe'>,
    iam: Pick<Iam, 'allows' | 'watch'>,
    observer: Partial<SubscriberObserver> = {},
    shared?: SharedEvents,
  ) {
    this.#observer = observer;
    this.#bus = bus;
    this.#iam = iam;
    this.#shared = shared;
    shared?.follow({
      taken: ({ userId, domain, id }) => this.#leave({ userId, domain }, id, TAKEN),
      lost: (reason) => {
        for (const mine of this.#entries.values())
          for (const [id, { session }] of mine) this.#leave(session, id, reason);
      },
    });
  }

  /** In a cluster: follows the session's domain, and fetches a subscription of another node. Undefined on a single node. */
  get prepare():
    | ((session: Session, asked: { readonly id?: string; readonly after?: number }) => Promise<void>)
    | undefined {
    const shared = this.#shared;
    return shared === undefined ? undefined : (session, asked) => this.#prepare(shared, session, asked);
  }

  async #prepare(
    shared: SharedEvents,
    session: Session,
    { id, after }: { readonly id?: string; readonly after?: number },
  ): Promise<void> {
    const { userId, domain } = session;
    await shared.open(domain);
    if (id === undefined || after === undefined || this.#entries.get(keyOf(session))?.has(id) === true) return;
    await shared.recall({ userId, domain, id }, after, (begun, replay) => {
      if (this.#entries.get(keyOf(session))?.has(id) === true) return;
      const subscription = this.#subscription(session, id, begun, replay);
      this.#of(session).set(id, {
        subscription,
        kept: shared.keep({ userId, domain, id }, begun, subscription),
        selection: selectionKey(begun.selection),
        subscriber: NOBODY,
        session,
        unwatch: this.#iam.watch(session, (now) => this.#changed(session, id, now)),
        timer: this.#endAfter(session, id, MAX_DETACHED),
        expires: Date.now() + MAX_DETACHED * 1_000,
      });
    });
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
    const begun = { selection, since: Date.now() };
    const subscription = before?.subscription ?? this.#subscription(session, id, begun, this.#beginning());
    const seconds = Math.min(expires, MAX_EXPIRES);
    const entry: Entry = {
      subscription,
      kept: before === undefined ? this.#shared?.keep({ ...nameOf(session), id }, begun, subscription) : before.kept,
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
      if (known.subscription !== subscription) {
        known.subscription.close();
        known.kept?.leave();
      }
      if (isTaken) known.subscriber.ended(id, TAKEN);
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
    this.#remove(session, id)?.kept?.end();
  }

  /** Another node has it, or its numbers cannot go on. */
  #leave(owner: Owner, id: string, reason: string): void {
    const wasAttached = this.#entries.get(keyOf(owner))?.get(id)?.subscription.attached === true;
    const entry = this.#remove(owner, id);
    entry?.kept?.leave();
    if (wasAttached) entry?.subscriber.ended(id, reason);
  }

  #remove(owner: Owner, id: string): Entry | undefined {
    const mine = this.#entries.get(keyOf(owner));
    const entry = mine?.get(id);
    if (mine === undefined || entry === undefined) return undefined;
    forget(entry);
    mine.delete(id);
    if (mine.size === 0) this.#entries.delete(keyOf(owner));
    return entry;
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
      for (const entry of mine.values()) {
        forget(entry);
        // Another node may resume it.
        entry.kept?.leave();
      }
    }
    this.#entries.clear();
  }

  /** Its roles are those of the entry at the time of each event. */
  #subscription(session: Session, id: string, { selection, since }: Begun, replay: Replay): Subscription {
    const allows = (path: string): boolean => {
      const now = this.#entries.get(keyOf(session))?.get(id)?.session ?? session;
      return this.#iam.allows(now, 'GET', path);
    };
    return new Subscription(id, this.#bus, session.domain, selector(allows, session.userId, selection, since), replay);
  }

  #beginning(): Replay {
    return { seq: this.#shared?.first ?? 0, events: [] };
  }

  #changed(session: Session, id: string, now: Session | undefined): void {
    const entry = this.#entries.get(keyOf(session))?.get(id);
    if (now === undefined || keyOf(now) !== keyOf(session)) this.end(session, id);
    else if (entry !== undefined) {
      entry.kept?.changed();
      entry.session = now;
    }
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

function keyOf({ userId, domain }: Owner): string {
  return `${userId} ${domain}`;
}

function nameOf({ userId, domain }: Session): Owner {
  return { userId, domain };
}
