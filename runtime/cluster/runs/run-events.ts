/** Events of all nodes, for runs that wait for them. */
import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import { asDomainName } from '../../domain-name/index.ts';
import type { BusEvent, EventPort } from '../../runs/index.ts';
import type { NatsLink } from '../link/nats-link.ts';

/** Followed by the domain, class and type. NATS drops events for which no run waits. */
const SUBJECT = 'ringmaster.v1.event';
/** Each node of the database publishes changes of the data model itself. */
const OF_THE_DATABASE = 'modelevents';

type Kind = Pick<BusEvent, 'domain' | 'class' | 'type'>;
type Listener = (event: BusEvent) => void;

/** The bus of this node. */
export interface Bus extends EventPort {
  subscribe(filter: Partial<Kind>, listener: Listener): () => void;
}

interface Told {
  readonly from: string;
  readonly event: BusEvent;
}

interface Watched {
  readonly subject: string;
  readonly listeners: Set<Listener>;
  subscription: Subscription | undefined;
}

/** The event bus for runs: what the other nodes publish comes, too, while NATS is there. */
export class RunEvents implements EventPort {
  readonly #bus: Bus;
  readonly #link: NatsLink;
  readonly #id: string;
  readonly #watched = new Map<string, Watched>();

  /** @param id of this process */
  constructor(bus: Bus, link: NatsLink, id: string) {
    this.#bus = bus;
    this.#link = link;
    this.#id = id;
    bus.subscribe({}, (event) => this.#tell(event));
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
    const subject = subjectOf(kind);
    const watched = this.#watched.get(subject) ?? this.#watch(subject);
    // Each subscription counts, also several of the same function.
    const own: Listener = (event) => listener(event);
    watched.listeners.add(own);
    return () => {
      stop();
      if (!watched.listeners.delete(own) || watched.listeners.size > 0) return;
      watched.subscription?.unsubscribe();
      this.#watched.delete(subject);
    };
  }

  #watch(subject: string): Watched {
    const watched: Watched = { subject, listeners: new Set(), subscription: undefined };
    this.#watched.set(subject, watched);
    const { connection } = this.#link;
    if (connection !== undefined) watched.subscription = this.#follow(connection, watched);
    return watched;
  }

  #follow(connection: NatsConnection, { subject, listeners }: Watched): Subscription {
    return connection.subscribe(subject, {
      callback: (err, message) => {
        const told = err === null ? parsed(message.string()) : undefined;
        if (told === undefined || told.from === this.#id) return;
        const event = { ...told.event, domain: asDomainName(told.event.domain) };
        for (const listener of listeners) listener(event);
      },
    });
  }

  #tell({ seq, ts, domain, class: name, type, data }: BusEvent): void {
    if (name === OF_THE_DATABASE) return;
    const told: Told = { from: this.#id, event: { seq, ts, domain, class: name, type, data } };
    this.#link.connection?.publish(subjectOf(told.event), JSON.stringify(told));
  }
}

/** Names of domains have dots. */
function subjectOf({ domain, class: name, type }: Kind): string {
  return `${SUBJECT}.${Buffer.from(`${domain} ${name} ${type}`).toString('base64url')}`;
}

/** Undefined for what is no event of a node. */
function parsed(text: string): Told | undefined {
  try {
    return JSON.parse(text) as Told;
  } catch {
    return undefined;
  }
}
