/** Follows a bucket of NATS JetStream. */
import { AckPolicy, DeliverPolicy, jetstream, jetstreamManager, type JsMsg } from '@nats-io/jetstream';
import { createInbox, nanos, type NatsConnection, nuid } from '@nats-io/transport-node';
import { ClusterAwayError } from '../errors.ts';

/**
 * Milliseconds between two signs of life of NATS without a change. The library's own watch asks for one every 30 s: when the server of
 * NATS that tells the changes is lost, it would notice after a minute.
 */
const HEARTBEAT_MS = 2000;
/** Milliseconds after which NATS forgets a watch that nobody follows. */
const FORGET_MS = 30_000;

export interface WatchListener {
  /** @param value undefined: removed */
  entry(key: string, value: Uint8Array | undefined): void;
  /** All entries that the bucket had at the begin have been told. */
  complete(): void;
}

export interface Watch {
  /** Resolves when changes no longer come. */
  readonly over: Promise<void>;
  stop(): void;
}

/**
 * Tells all entries of a bucket, then every change.
 * @param timeoutMs for an answer of NATS
 * @throws errors of NATS, ClusterAwayError when the connection closes
 */
export async function watch(
  connection: NatsConnection,
  bucket: string,
  timeoutMs: number,
  listener: WatchListener,
): Promise<Watch> {
  const manager = await jetstreamManager(connection, { timeout: timeoutMs });
  const [stream, subject, name] = [`KV_${bucket}`, `$KV.${bucket}.`, `ringmaster_${nuid.next()}`];
  const { num_pending: waiting } = await manager.consumers.add(stream, {
    name,
    deliver_subject: createInbox(),
    deliver_policy: DeliverPolicy.LastPerSubject,
    ack_policy: AckPolicy.None,
    filter_subject: `${subject}>`,
    flow_control: true,
    idle_heartbeat: nanos(HEARTBEAT_MS),
    inactive_threshold: nanos(FORGET_MS),
    mem_storage: true,
    num_replicas: 1,
  });
  const consumer = await jetstream(connection, { timeout: timeoutMs }).consumers.getPushConsumer(stream, name);
  const over = Promise.withResolvers<void>();
  let [isComplete, last] = [false, 0];
  const hear = (message: JsMsg): void => {
    const { deliverySequence, pending } = message.info;
    if (deliverySequence !== last + 1) over.resolve();
    last = deliverySequence;
    const isValue = message.headers?.has('KV-Operation') !== true;
    listener.entry(message.subject.slice(subject.length), isValue ? message.data : undefined);
    if (isComplete || pending > 0) return;
    isComplete = true;
    listener.complete();
  };
  // The library's timer would go on for ever: it begins before a closing connection refuses the rest.
  if (connection.isDraining() || connection.isClosed()) throw new ClusterAwayError();
  const messages = await consumer.consume({ callback: hear });
  const follow = async (): Promise<void> => {
    for await (const { type } of messages.status())
      if (type === 'heartbeats_missed' || type === 'consumer_deleted') over.resolve();
    over.resolve();
  };
  void follow();
  if (waiting === 0) {
    isComplete = true;
    listener.complete();
  }
  return {
    over: over.promise,
    stop: () => {
      over.resolve();
      messages.stop();
      manager.consumers.delete(stream, name).catch(() => undefined);
    },
  };
}
