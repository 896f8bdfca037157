/** Events of all nodes, for runs that wait for them. */
import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import type { DomainName } from '../../domain-name/index.ts';
import type { BusEvent, EventPort } from '../../runs/index.ts';
import { MESSAGE_ID, subjectOf } from '../events/event-stream.ts';
import type { Held, Interest } from '../events/interest.ts';
import { eventsOf } from '../events/message.ts';
import type { NatsLink } from '../link/nats-link.ts';

/** Each node of the database publishes changes of the data model itself. */
const OF_THE_DATABASE = 'modelevents';

type Kind = Pick<BusEvent, 'domain' | 'class' | 'type'>;
type Listener = (event: BusEvent) => void;

/** The bus of this node. */
export interface Bus extends EventPort {
  subscribe(filter: Partial<Kind>, listener: Listener): () => void;
}

/** A domain with runs that wait. */
interface Watched {
  readonly domain: DomainName;
  readonly held: Held;
  /** By class and type. */
  readonly listeners: Map<string, Set<Listener>>;
  /** Number of the last message of each process: a node repeats what NATS has not confirmed. */
  readonly latest: Map<string, number>;
  subscription: Subscription | undefined;
}

/**
 * The event bus for runs: what the other nodes publish comes, too, while NATS is there. It hears the messages on their way into the
 * stream of events.
 */
export class RunEvents implements EventPort {
  readonly #bus: Bus;
  readonly #link: NatsLink;
  readonly #id: string;
  readonly #interest: Interest;
  readonly #watched = new Map<DomainName, Watched>();

  /** @param id of this process */
  constructor(bus: Bus, link: NatsLink, id: string, interest: Interest) {
    this.#bus = bus;
    this.#link = link;
    this.#id = id;
    this.#interest = interest;
    let served: NatsConnection | undefined;
    link.onUp(() => {
      const { connection } = link;
      // A connection that came back keeps its subscriptions.
      if (connection === undefined || connection === served) return;
      served = connection;
      for (const each of this.#watched.values()) each.subscription = this.#follow(connection, each);
    });
  }

  publish(event: Parameters<EventPort['publish']>[0]): BusEvent {
    return this.#bus.publish(event);
  }

  subscribe(kind: Kind, listener: Listener): () => void {
    const stop = this.#bus.subscribe(kind, listener);
    const watched = this.#watched.get(kind.domain) ?? this.#watch(kind.domain);
    const key = keyOf(kind);
    const listeners = watched.listeners.get(key) ?? new Set<Listener>();
    watched.listeners.set(key, listeners);
    // Each subscription counts, also several of the same function.
    const own: Listener = (event) => listener(event);
    listeners.add(own);
    return () => {
      stop();
      if (!listeners.delete(own) || listeners.size > 0) return;
      watched.listeners.delete(key);
      if (watched.listeners.size > 0) return;
      watched.subscription?.unsubscribe();
      watched.held.release();
      this.#watched.delete(kind.domain);
    };
  }

  #watch(domain: DomainName): Watched {
    const watched: Watched = {
      domain,
      held: this.#interest.hold(domain),
      listeners: new Map(),
      latest: new Map(),
      subscription: undefined,
    };
    this.#watched.set(domain, watched);
    const { connection } = this.#link;
    if (connection !== undefined) watched.subscription = this.#follow(connection, watched);
    return watched;
  }

  #follow(connection: NatsConnection, watched: Watched): Subscription {
    return connection.subscribe(subjectOf(watched.domain), {
      callback: (err, message) => {
        if (err !== null) return;
        const [from = '', number] = (message.headers?.get(MESSAGE_ID) ?? '').split('.');
        const isNew = Number(number) > (watched.latest.get(from) ?? 0);
        if (from === this.#id || !isNew) return;
        watched.latest.set(from, Number(number));
        this.#tell(watched, Number(number), message.string());
      },
    });
  }

  #tell({ domain, listeners }: Watched, number: number, text: string): void {
    for (const event of eventsOf(domain, number, text)) {
      if (event.class === OF_THE_DATABASE) continue;
      for (const listener of listeners.get(keyOf(event)) ?? []) listener(event);
    }
  }
}

function keyOf({ class: name, type }: Pick<Kind, 'class' | 'type'>): string {
  return `${name} ${type}`;
}
