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
const UNKNOWN = 'Ringmaster-Unknown';
/** Asks whether a node works on the request of an inbox. NATS answers it where nobody listens. */
const PROBE = 'probe';
/** Milliseconds without an answer after which a node is probed, and between two probes. */
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
  /**
   * True: when no answer comes at once, the node is asked whether it works on it; a request or an answer that a server of NATS took with
   * it is asked for again. For what may be asked again.
   */
  readonly probes?: boolean;
}

interface Asked {
  readonly method: string;
  readonly parameters: Json;
  /** By `performance.now()`. */
  readonly deadline: number;
}

/** The node does not work on the request, and its answer did not come. */
class UnknownRequest extends Error {}

export class Requests {
  readonly #link: NatsLink;
  readonly #log: Log;
  readonly #handlers = new Map<string, Handler>();
  /** Give up the requests that wait for an answer. */
  readonly #waiting = new Set<() => void>();
  /** Inboxes of the requests that this node works on. */
  readonly #working = new Set<string>();

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
  async ask(peer: Peer, method: string, parameters: Json, options: AskOptions): Promise<Json> {
    const deadline = performance.now() + options.timeoutMs;
    for (;;) {
      try {
        return await this.#ask(peer, { method, parameters, deadline }, options);
      } catch (error) {
        if (!(error instanceof UnknownRequest)) throw error;
      }
    }
  }

  async #ask(
    peer: Peer,
    { method, parameters, deadline }: Asked,
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
        if (message.headers?.has(UNKNOWN) === true) return reject(new UnknownRequest());
        frames.push(message.data);
        if (message.headers?.has(MORE) !== true) resolve(parsed(frames));
      },
    });
    const timer = setTimeout(() => reject(new NodeSilentError(peer.node, timeoutMs)), deadline - performance.now());
    // A node that died after it got the request answers neither this nor the request.
    const probe = probes ? setInterval(() => this.#probe(connection, peer, inbox), PROBE_MS) : undefined;
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
      clearInterval(probe);
      this.#waiting.delete(cutOff);
      gone?.removeEventListener('abort', died);
      subscription.unsubscribe();
    }
  }

  /** A node that works on the request is silent about it; for a dead one NATS answers to the inbox of the request. */
  #probe(connection: NatsConnection, { id }: Peer, inbox: string): void {
    const about = headers();
    about.set(METHOD, PROBE);
    connection.publish(`${SUBJECT}.${id}`, '', { reply: inbox, headers: about });
  }

  async #answer(connection: NatsConnection, message: Msg): Promise<void> {
    const method = message.headers?.get(METHOD) ?? '';
    const { reply = '' } = message;
    if (method === PROBE) {
      if (!this.#working.has(reply)) message.respond('', { headers: only(UNKNOWN) });
      return;
    }
    this.#working.add(reply);
    const handler = this.#handlers.get(method);
    let data: Uint8Array;
    let about: MsgHdrs | undefined;
    try {
      if (handler === undefined) throw new NodeFailedError(`this version of the node does not answer ${method}`);
      data = Buffer.from(JSON.stringify((await handler(message.json())) ?? null));
    } catch (error) {
      if (handler !== undefined) this.#log.error({ err: error, method }, 'a request of another node failed');
      data = Buffer.from(error instanceof NodeFailedError ? error.message : 'internal error, see its log');
      about = only(FAILED);
    }
    this.#working.delete(reply);
    try {
      for (let at = 0; at < data.length || at === 0; at += FRAME) {
        const isLast = at + FRAME >= data.length;
        const own = isLast ? about : only(MORE);
        message.respond(data.subarray(at, at + FRAME), own === undefined ? {} : { headers: own });
      }
      await connection.flush();
    } catch (err) {
      // The asking node learns of it by the state of its own connection, or by its time limit.
      this.#log.debug({ err, method }, 'an answer to another node was not sent');
    }
  }
}

function only(name: string): MsgHdrs {
  const about = headers();
  about.set(name, '1');
  return about;
}

function parsed(frames: readonly Uint8Array[]): Json {
  const [first] = frames;
  const whole = frames.length === 1 && first !== undefined ? Buffer.from(first) : Buffer.concat(frames);
  return JSON.parse(whole.toString('utf8')) as Json;
}
