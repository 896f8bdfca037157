/** Requests from node to node: one answer of any size, or an error at once where nobody listens. */
import { createInbox, type Msg, type MsgHdrs, headers, type NatsConnection } from '@nats-io/transport-node';
import { ClusterAwayError, NodeFailedError, NodeGoneError, NodeSilentError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { NatsLink } from './nats-link.ts';

/** Subjects of requests to nodes, by process id of the node. The number changes when nodes no longer understand each other. */
const SUBJECT = 'ringmaster.v1.node';
const METHOD = 'Ringmaster-Method';
const MORE = 'Ringmaster-More';
const FAILED = 'Ringmaster-Failed';
/** Asks nothing: NATS answers it where nobody listens. */
const PROBE = 'probe';
/** Milliseconds without an answer after which a node is probed. */
const PROBE_MS = 300;
/** Bytes of one message of a long answer. */
const FRAME = 256 * 1024;

/** A value of JSON. */
export type Json = unknown;
/** Answers a request, at once or by a promise. */
export type Handler = (parameters: Json) => Json;

/** Whom to ask. */
export interface Peer {
  /** Of its process: another one after each start. */
  readonly id: string;
  readonly node: string;
}

export interface AskOptions {
  /** Milliseconds to wait for an answer. */
  readonly timeoutMs: number;
  /** Aborted when the node is known to be dead. */
  readonly gone?: AbortSignal | undefined;
  /** True: when no answer comes at once, NATS is asked whether the node still listens. For what may be asked again. */
  readonly probes?: boolean;
}

export class Requests {
  readonly #link: NatsLink;
  readonly #log: Log;
  readonly #handlers = new Map<string, Handler>();
  /** Give up the requests that wait for an answer. */
  readonly #waiting = new Set<() => void>();

  /** @param id of this process */
  constructor(link: NatsLink, id: string, log: Log) {
    this.#link = link;
    this.#log = log;
    link.onDown(() => {
      for (const giveUp of this.#waiting) giveUp();
    });
    let served: NatsConnection | undefined;
    link.onUp(() => {
      const { connection } = link;
      // A connection that came back keeps its subscriptions.
      if (connection === undefined || connection === served) return;
      served = connection;
      connection.subscribe(`${SUBJECT}.${id}`, {
        callback: (err, message) => {
          if (err === null) void this.#answer(connection, message);
        },
      });
    });
  }

  /** Answers the requests of other nodes of this kind. */
  serve(method: string, handler: Handler): void {
    this.#handlers.set(method, handler);
  }

  /**
   * Asks another node.
   * @throws ClusterAwayError, NodeGoneError (at once), NodeSilentError, NodeFailedError
   */
  async ask(
    peer: Peer,
    method: string,
    parameters: Json,
    { timeoutMs, gone, probes = false }: AskOptions,
  ): Promise<Json> {
    const { connection } = this.#link;
    if (connection === undefined) throw new ClusterAwayError();
    const { promise, resolve, reject } = Promise.withResolvers<Json>();
    const inbox = createInbox();
    const frames: Uint8Array[] = [];
    const subscription = connection.subscribe(inbox, {
      callback: (err, message) => {
        if (err !== null || message.headers?.code === 503) return reject(new NodeGoneError(peer.node));
        if (message.headers?.has(FAILED) === true)
          return reject(new NodeFailedError(`node ${peer.node}: ${message.string()}`));
        frames.push(message.data);
        if (message.headers?.has(MORE) !== true) resolve(parsed(frames));
      },
    });
    const timer = setTimeout(() => reject(new NodeSilentError(peer.node, timeoutMs)), timeoutMs);
    // A node that died after it got the request answers neither this nor the request.
    const probe = probes ? setTimeout(() => this.#probe(connection, peer, inbox), PROBE_MS) : undefined;
    const died = (): void => reject(new NodeGoneError(peer.node));
    const cutOff = (): void => reject(new ClusterAwayError());
    this.#waiting.add(cutOff);
    gone?.addEventListener('abort', died, { once: true });
    try {
      if (gone?.aborted === true) throw new NodeGoneError(peer.node);
      const about = headers();
      about.set(METHOD, method);
      connection.publish(`${SUBJECT}.${peer.id}`, JSON.stringify(parameters), { reply: inbox, headers: about });
      return await promise;
    } finally {
      clearTimeout(timer);
      clearTimeout(probe);
      this.#waiting.delete(cutOff);
      gone?.removeEventListener('abort', died);
      subscription.unsubscribe();
    }
  }

  /** A living node is silent about it; for a dead one NATS answers to the inbox of the request. */
  #probe(connection: NatsConnection, { id }: Peer, inbox: string): void {
    const about = headers();
    about.set(METHOD, PROBE);
    connection.publish(`${SUBJECT}.${id}`, '', { reply: inbox, headers: about });
  }

  async #answer(connection: NatsConnection, message: Msg): Promise<void> {
    const method = message.headers?.get(METHOD) ?? '';
    if (method === PROBE) return;
    const handler = this.#handlers.get(method);
    let data: Uint8Array;
    let about: MsgHdrs | undefined;
    try {
      if (handler === undefined) throw new NodeFailedError(`this version of the node does not answer ${method}`);
      data = Buffer.from(JSON.stringify((await handler(message.json())) ?? null));
    } catch (error) {
      if (handler !== undefined) this.#log.error({ err: error, method }, 'a request of another node failed');
      data = Buffer.from(error instanceof NodeFailedError ? error.message : 'internal error, see its log');
      about = headers();
      about.set(FAILED, '1');
    }
    try {
      for (let at = 0; at < data.length || at === 0; at += FRAME) {
        const isLast = at + FRAME >= data.length;
        const own = isLast ? about : moreHeader();
        message.respond(data.subarray(at, at + FRAME), own === undefined ? {} : { headers: own });
      }
      await connection.flush();
    } catch (err) {
      // The asking node learns of it by the state of its own connection, or by its time limit.
      this.#log.debug({ err, method }, 'an answer to another node was not sent');
    }
  }
}

function moreHeader(): MsgHdrs {
  const about = headers();
  about.set(MORE, '1');
  return about;
}

function parsed(frames: readonly Uint8Array[]): Json {
  const [first] = frames;
  const whole = frames.length === 1 && first !== undefined ? Buffer.from(first) : Buffer.concat(frames);
  return JSON.parse(whole.toString('utf8')) as Json;
}
