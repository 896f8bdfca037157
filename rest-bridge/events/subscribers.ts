import { randomUUID } from 'node:crypto';
import type { EventBus } from '../../runtime/events/event-bus.ts';
import { type Sink, Subscription } from '../../runtime/events/subscription.ts';
import type { Iam, Session } from '../../runtime/iam/iam.ts';
import { RestError } from '../errors.ts';
import { MAX_EXPIRES, type Selection, selector } from './selection.ts';

/** Subscriptions of one user in one domain. */
const MAX_PER_USER = 100;
/** Seconds for which a subscription without a connection goes on collecting. */
const MAX_DETACHED = 60;

interface Entry {
  readonly subscription: Subscription;
  timer: NodeJS.Timeout;
  /** Milliseconds since the epoch. */
  expires: number;
}

export interface Subscribed {
  readonly id: string;
  readonly sink: Sink;
  /** False: events since `after` are lost, read the state anew. */
  readonly resumed: boolean;
  readonly seq: number;
  /** Seconds. */
  readonly expires: number;
}

/** The subscriptions of the node, by session user, domain and id: whoever comes back finds what came meanwhile. */
export class Subscribers {
  readonly #bus: EventBus;
  readonly #iam: Pick<Iam, 'allows'>;
  readonly #entries = new Map<string, Map<string, Entry>>();

  constructor(bus: EventBus, iam: Pick<Iam, 'allows'>) {
    this.#bus = bus;
    this.#iam = iam;
  }

  /**
   * Starts a subscription; the same id renews it, with `after` it resumes where the connection was lost.
   *
   * @param expires seconds
   * @throws RestError 429 for too many; BadParameterError for a filter that cannot be understood
   */
  subscribe(
    session: Session,
    { after, expires = MAX_EXPIRES, ...selection }: Selection & { after?: number; expires?: number },
    makeSink: (id: string) => Sink,
  ): Subscribed {
    const id = selection.id ?? randomUUID();
    const mine = this.#of(session);
    const before = mine.get(id);
    const resumes = after !== undefined;
    if (before === undefined && mine.size >= MAX_PER_USER) {
      throw new RestError('CANNOT_APPLY', { field: 'id', reason: `a user has at most ${MAX_PER_USER} subscriptions` });
    }
    const sink = makeSink(id);
    const subscription =
      resumes && before !== undefined
        ? before.subscription
        : new Subscription(id, this.#bus, session.domain, selector(this.#iam, session, selection));
    if (before !== undefined) {
      clearTimeout(before.timer);
      if (before.subscription !== subscription) before.subscription.close();
    }
    const seconds = Math.min(expires, MAX_EXPIRES);
    mine.set(id, { subscription, timer: this.#endAfter(session, id, seconds), expires: Date.now() + seconds * 1_000 });
    const complete = subscription.attach(sink, after ?? subscription.seq);
    return {
      id,
      sink,
      resumed: !resumes || (before !== undefined && complete),
      seq: subscription.seq,
      expires: seconds,
    };
  }

  /** Ends a subscription; an unknown id is no error. */
  end(session: Session, id: string): void {
    const mine = this.#entries.get(keyOf(session));
    const entry = mine?.get(id);
    if (mine === undefined || entry === undefined) return;
    clearTimeout(entry.timer);
    entry.subscription.close();
    mine.delete(id);
    if (mine.size === 0) this.#entries.delete(keyOf(session));
  }

  /** The connection is gone: the subscription collects for a while. */
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
      for (const { timer, subscription } of mine.values()) {
        clearTimeout(timer);
        subscription.close();
      }
    }
    this.#entries.clear();
  }

  #of(session: Session): Map<string, Entry> {
    const key = keyOf(session);
    const mine = this.#entries.get(key) ?? new Map<string, Entry>();
    this.#entries.set(key, mine);
    return mine;
  }

  #endAfter(session: Session, id: string, seconds: number): NodeJS.Timeout {
    return setTimeout(() => this.end(session, id), seconds * 1_000).unref();
  }
}

function keyOf({ userId, domain }: Session): string {
  return `${userId} ${domain.toLowerCase()}`;
}
