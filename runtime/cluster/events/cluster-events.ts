/** The events of all nodes for subscribers, in the order of a stream of NATS. */
import type { DomainName } from '../../domain-name/index.ts';
import {
  type Begun,
  type EventBus,
  isOnDemand,
  type KeptSubscription,
  type NodeEvent,
  type Replay,
  type SharedEvents,
  type SharedEventsListener,
  type SubscriptionName,
} from '../../events/index.ts';
import { Broadcast } from '../link/broadcast.ts';
import type { NatsLink } from '../link/nats-link.ts';
import type { Log } from '../log.ts';
import { EventStream } from './event-stream.ts';
import { Follower } from './follower.ts';
import type { Held, Interest } from './interest.ts';
import { Outgoing } from './outgoing.ts';
import { pastOf } from './past.ts';
import { SharedDemand } from './shared-demand.ts';
import { type Mark, type OwnRecord, SubscriptionRecords, type TakenOver } from './subscription-records.ts';

const CHECK_MS = 200;
/** Checks without NATS after which the node goes on alone. They are counted, as a busy node checks late. */
const PATIENCE = 15;
/** The same, in milliseconds, without a stored event, though NATS is connected: longer than its servers take to choose who stores. */
const SILENT_MS = 15_000;
/** Milliseconds between two marks of a subscription, and events of its domain. */
const MARK_MS = 60_000;
const MARK_EVENTS = 2000;

type Listener = (event: NodeEvent) => void;

interface Followed {
  readonly follower: Follower;
  readonly held: Held;
  /** Events since the last marks. */
  count: number;
}

interface Own {
  readonly name: SubscriptionName;
  readonly record: OwnRecord;
}

export interface ClusterEventsNeeds {
  /** The events of this node. */
  readonly bus: EventBus;
  readonly link: NatsLink;
  /** Of this process. */
  readonly id: string;
  readonly interest: Interest;
  readonly log: Log;
}

/**
 * Together with the others, subscribers get all events from the stream, those of this node among them: so the order is the
 * same everywhere. While NATS is away, they get those of this node, under other numbers.
 */
export class ClusterEvents implements SharedEvents {
  readonly #bus: EventBus;
  readonly #stream: EventStream;
  readonly #link: NatsLink;
  readonly #id: string;
  readonly #interest: Interest;
  readonly #log: Log;
  readonly #outgoing: Outgoing;
  readonly #records: SubscriptionRecords;
  readonly #took: Broadcast;
  readonly #demand: SharedDemand;
  /** Ends the demand on the bus of this node. */
  readonly #demanded = new Map<DomainName, () => void>();
  readonly #domains = new Map<DomainName, Set<Listener>>();
  readonly #followed = new Map<DomainName, Followed>();
  readonly #own = new Set<Own>();
  /** Entries that subscriptions of this node take over. */
  readonly #recalled = new Map<string, TakenOver>();
  readonly #listeners: SharedEventsListener[] = [];
  readonly #timers: NodeJS.Timeout[];
  /** Of the stream; undefined: alone. */
  #epoch: string | undefined;
  #joining = false;
  #missed = 0;

  constructor({ bus, link, id, interest, log }: ClusterEventsNeeds) {
    this.#bus = bus;
    this.#link = link;
    this.#id = id;
    this.#interest = interest;
    this.#log = log;
    this.#stream = new EventStream(link);
    this.#outgoing = new Outgoing(this.#stream, id, log);
    this.#records = new SubscriptionRecords(link, log);
    this.#took = new Broadcast(link, id, 'subscriptions', (told) => this.#taken(told as SubscriptionName));
    this.#demand = new SharedDemand(link, id, () => this.#demandOfAll());
    bus.subscribe({}, (event) => this.#published(event));
    this.#timers = [
      setInterval(() => this.#check(), CHECK_MS).unref(),
      setInterval(() => this.#mark(), MARK_MS).unref(),
    ];
    link.onUp(() => {
      for (const { follower } of this.#followed.values()) void follower.reopen();
      this.#check();
    });
  }

  /** Numbers of a lonely node begin where those of a cluster never are: no other node takes them for its own. */
  get first(): number {
    return this.#epoch === undefined ? Date.now() : 0;
  }

  subscribe({ domain, onDemand = false }: Parameters<EventBus['subscribe']>[0], listener: Listener): () => void {
    if (domain === undefined) return this.#bus.subscribe({}, listener);
    const listeners = this.#domains.get(domain) ?? new Set<Listener>();
    this.#domains.set(domain, listeners);
    const own: Listener = (event) => listener(event);
    listeners.add(own);
    const unwant = onDemand ? this.#demand.want(domain) : undefined;
    return () => {
      listeners.delete(own);
      unwant?.();
    };
  }

  async open(domain: DomainName): Promise<void> {
    if (this.#epoch === undefined) return;
    const { follower, held } = this.#follow(domain, this.#epoch);
    await Promise.all([follower.opened, held.confirmed]);
  }

  async recall<T>(
    name: SubscriptionName,
    after: number,
    resume: (begun: Begun, replay: Replay) => T,
  ): Promise<T | undefined> {
    try {
      const epoch = this.#epoch;
      const found = epoch === undefined ? undefined : await this.#records.find(name);
      const mark = found?.record.marks.findLast(({ seq }) => seq <= after);
      if (epoch === undefined || found?.record.epoch !== epoch || mark === undefined) return undefined;
      const { follower, held } = this.#follow(name.domain, epoch);
      await Promise.all([follower.opened, held.confirmed]);
      // What happens meanwhile.
      const present: NodeEvent[] = [];
      const upTo = follower.position;
      const stop = this.subscribe({ domain: name.domain }, (event) => present.push(event));
      try {
        const past = await pastOf(this.#stream, { domain: name.domain, epoch, after: mark.position, upTo });
        if (past === undefined || this.#epoch !== epoch) return undefined;
        this.#recalled.set(nameOf(name), { revision: found.revision, mark });
        return resume(found.record, { seq: mark.seq, events: [...past, ...present] });
      } finally {
        stop();
      }
    } catch (err) {
      this.#log.warn({ err }, 'a subscription of another node cannot be read');
      return undefined;
    }
  }

  keep(name: SubscriptionName, begun: Begun, subscription: { readonly seq: number }): KeptSubscription {
    const key = nameOf(name);
    const before = this.#recalled.get(key);
    this.#recalled.delete(key);
    // Nobody can count the events of a lonely node.
    if (this.#epoch === undefined) return { changed() {}, end() {}, leave() {} };
    const mark = (): Mark => ({
      seq: subscription.seq,
      position: this.#followed.get(name.domain)?.follower.position ?? 0,
    });
    const own: Own = {
      name,
      record: this.#records.keep(name, {
        record: { selection: begun.selection, since: begun.since, owner: this.#id, epoch: this.#epoch },
        mark,
        before,
        taken: () => this.#taken(name),
      }),
    };
    this.#own.add(own);
    this.#took.tell(name);
    return {
      changed: () => own.record.changed(),
      end: () => {
        this.#own.delete(own);
        own.record.end();
      },
      leave: () => {
        this.#own.delete(own);
        own.record.leave();
      },
    };
  }

  /** See `Outgoing.whenSent`. */
  whenSent(callback: () => void): void {
    this.#outgoing.whenSent(callback);
  }

  follow(listener: SharedEventsListener): void {
    this.#listeners.push(listener);
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#demand.close();
    this.#outgoing.close();
    for (const followed of this.#followed.values()) leave(followed);
  }

  /** Publishes here what subscribers of any node want. */
  #demandOfAll(): void {
    const wanted = this.#demand.domains;
    for (const [domain, end] of this.#demanded) {
      if (wanted.has(domain)) continue;
      end();
      this.#demanded.delete(domain);
    }
    for (const domain of wanted) {
      if (this.#demanded.has(domain)) continue;
      const listener: Listener = (event) => isOnDemand(event.class) && this.#published(event);
      this.#demanded.set(domain, this.#bus.subscribe({ domain, onDemand: true }, listener));
    }
  }

  #published(event: NodeEvent): void {
    if (this.#epoch === undefined) this.#tell(event);
    // The node that wrote it sends it, where somebody follows its domain.
    if (event.elsewhere !== true && this.#interest.wants(event.domain)) this.#outgoing.add(event);
  }

  #tell(event: NodeEvent): void {
    for (const listener of this.#domains.get(event.domain) ?? []) {
      try {
        listener(event);
      } catch (err) {
        this.#log.error({ err, class: event.class, type: event.type }, 'a listener of an event failed');
      }
    }
  }

  #follow(domain: DomainName, epoch: string): Followed {
    const known = this.#followed.get(domain);
    if (known !== undefined) return known;
    const followed: Followed = {
      count: 0,
      held: this.#interest.hold(domain),
      follower: new Follower(domain, this.#stream, epoch, {
        heard: (events) => {
          for (const event of events) this.#tell(event);
          followed.count += events.length;
          if (followed.count >= MARK_EVENTS) this.#markDomain(domain, followed);
        },
        lost: () => this.#alone('NATS no longer has all events'),
      }),
    };
    this.#followed.set(domain, followed);
    return followed;
  }

  #check(): void {
    const isThere = this.#link.connection !== undefined;
    if (this.#epoch === undefined) {
      if (isThere) void this.#join();
      return;
    }
    this.#missed = isThere ? 0 : this.#missed + 1;
    if (this.#missed >= PATIENCE || this.#outgoing.silentMs > SILENT_MS) this.#alone('NATS is away');
  }

  async #join(): Promise<void> {
    // Subscribers read the state anew when the node has joined.
    if (this.#joining || this.#outgoing.silentMs > 0 || !this.#interest.canFollow) return;
    this.#joining = true;
    try {
      const { epoch } = await this.#stream.open();
      this.#epoch = epoch;
      this.#missed = 0;
      this.#lose('NATS is back: events of all nodes come again');
    } catch (err) {
      this.#log.debug({ err }, 'the stream of events cannot be used yet');
    } finally {
      this.#joining = false;
    }
  }

  #alone(reason: string): void {
    if (this.#epoch === undefined) return;
    this.#epoch = undefined;
    for (const followed of this.#followed.values()) leave(followed);
    this.#followed.clear();
    this.#lose(reason);
  }

  #lose(reason: string): void {
    for (const listener of this.#listeners) listener.lost(reason);
  }

  #taken(name: SubscriptionName): void {
    for (const listener of this.#listeners) listener.taken(name);
  }

  /** Moves the marks on, and closes what nobody follows any more. */
  #mark(): void {
    for (const [domain, followed] of this.#followed) {
      if ((this.#domains.get(domain)?.size ?? 0) === 0) {
        leave(followed);
        this.#followed.delete(domain);
        this.#domains.delete(domain);
        continue;
      }
      if (followed.follower.quietMs > MARK_MS) this.#outgoing.mark(domain);
      this.#markDomain(domain, followed);
    }
  }

  #markDomain(domain: DomainName, followed: Followed): void {
    followed.count = 0;
    for (const { name, record } of this.#own) if (name.domain === domain) record.mark();
  }
}

function leave({ follower, held }: Followed): void {
  follower.close();
  held.release();
}

function nameOf({ userId, domain, id }: SubscriptionName): string {
  return `${userId} ${domain} ${id}`;
}
