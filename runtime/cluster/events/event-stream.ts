/** The stream of NATS JetStream that has the latest events of all nodes, with a subject a domain. */
import {
  type ConsumerMessages,
  jetstream,
  type JetStreamClient,
  type JetStreamManager,
  jetstreamManager,
  type JsMsg,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';
import { nanos, type NatsConnection } from '@nats-io/transport-node';
import { ClusterAwayError } from '../errors.ts';
import { COPIES } from '../link/copies.ts';
import type { NatsLink } from '../link/nats-link.ts';

/** The header by which NATS knows a repeated message. */
export const MESSAGE_ID = 'Nats-Msg-Id';
const STREAM = 'ringmaster_events';
const SUBJECT = 'ringmaster.v1.feed';
/** For how long, and in how many bytes, events are kept for subscribers that return. */
const KEPT_MS = 600_000;
const KEPT_BYTES = 67_108_864;
/** Milliseconds in which a repeated message is known as such: longer than a node repeats it. */
const REPEATS_MS = 120_000;
const ANSWER_MS = 2000;
/** Milliseconds between two signs of life of a consumer, of which two may be missing. */
const HEARTBEAT_MS = 2000;
/** Milliseconds after which NATS forgets a consumer that nobody reads. */
const FORGET_MS = 30_000;

export interface StreamState {
  /** Another one after a restart of NATS, whose numbers begin anew. */
  readonly epoch: string;
  /** Numbers of the first and last message; of an empty stream the first is one more than the last. */
  readonly first: number;
  readonly last: number;
}

/** Messages of a domain. */
export interface Reading {
  /** Number of messages that were there at the beginning. */
  readonly waiting: number;
  /** Resolves when no further message comes, as the server of NATS is lost that tells them. */
  readonly over: Promise<void>;
  stop(): void;
}

interface Clients {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
  readonly manager: Promise<JetStreamManager>;
}

/** Methods reject while NATS does not answer. */
export class EventStream {
  readonly #link: NatsLink;
  #clients: Clients | undefined;

  constructor(link: NatsLink) {
    this.#link = link;
  }

  /** The state of the stream, which is made where it is missing. */
  async open(): Promise<StreamState> {
    const { streams } = await this.#of().manager;
    const config = {
      name: STREAM,
      subjects: [`${SUBJECT}.>`],
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      max_age: nanos(KEPT_MS),
      max_bytes: KEPT_BYTES,
      duplicate_window: nanos(REPEATS_MS),
    };
    try {
      return await this.state();
    } catch {
      // A single server, or a cluster of fewer, keeps one copy; `Copies` makes the others later.
      await streams
        .add({ ...config, num_replicas: COPIES })
        .catch(() => streams.add({ ...config, num_replicas: 1 }))
        // Another node made it.
        .catch(() => undefined);
      return await this.state();
    }
  }

  async state(): Promise<StreamState> {
    const { streams } = await this.#of().manager;
    const { created, state } = await streams.info(STREAM);
    return { epoch: created, first: state.first_seq, last: state.last_seq };
  }

  /**
   * Stores a message of a domain.
   * @param id of the message: a repeat is stored once
   */
  async publish(domain: string, text: string, id: string): Promise<void> {
    await this.#of().js.publish(subjectOf(domain), text, { msgID: id, timeout: ANSWER_MS });
  }

  /**
   * Reads the messages of a domain in order.
   * @param from number of the first one
   */
  async read(domain: string, from: number, hear: (position: number, text: string) => void): Promise<Reading> {
    let isStopped = false;
    const consumer = await this.#of().js.consumers.get(STREAM, {
      filter_subjects: subjectOf(domain),
      opt_start_seq: from,
      inactive_threshold: FORGET_MS,
    });
    const { num_pending: waiting } = await consumer.info(true);
    const messages: ConsumerMessages = await consumer.consume({
      max_messages: 1000,
      idle_heartbeat: HEARTBEAT_MS,
      callback: (message: JsMsg) => {
        if (!isStopped) hear(message.seq, message.string());
      },
    });
    const over = Promise.withResolvers<void>();
    const follow = async (): Promise<void> => {
      // The client would wait for this server to come back.
      for await (const { type } of messages.status()) if (type === 'heartbeats_missed') over.resolve();
    };
    void follow();
    const stop = (): void => {
      isStopped = true;
      void messages.close().catch(() => undefined);
      void consumer.delete().catch(() => undefined);
    };
    return { waiting, over: over.promise, stop };
  }

  #of(): Clients {
    const { connection } = this.#link;
    if (connection === undefined) throw new ClusterAwayError();
    if (this.#clients?.connection !== connection) {
      const manager = jetstreamManager(connection, { timeout: ANSWER_MS });
      manager.catch(() => {
        this.#clients = undefined;
      });
      this.#clients = { connection, js: jetstream(connection, { timeout: ANSWER_MS }), manager };
    }
    return this.#clients;
  }
}

/** The subject of the events of a domain. Names of domains have dots. */
export function subjectOf(domain: string): string {
  return `${SUBJECT}.${Buffer.from(domain).toString('base64url')}`;
}
