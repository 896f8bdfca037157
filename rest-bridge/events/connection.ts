/** One WebSocket connection. */
import type { Duplex } from 'node:stream';
import { type Static, Type } from 'typebox';
import type { WebSocket } from 'ws';
import type { Sink } from '../../runtime/events/index.ts';
import type { Session } from '../../runtime/iam/index.ts';
import { toRestError } from '../error-answers.ts';
import { badParameter } from '../errors.ts';
import { MAX_JSON_DEPTH, nestsDeeper } from '../json-depth.ts';
import { schemaCompiler } from '../validation.ts';
import { gathered } from './gathered.ts';
import { Qid, Rest, type RestAnswer, type RestFrame } from './rest-frame.ts';
import { MAX_EXPIRES, SelectionFields } from './selection.ts';
import type { Subscribed, Subscriber, Subscribers } from './subscribers.ts';
import { toldEvent } from './told-event.ts';
import { Turns } from './turns.ts';

/** Limit of bytes that wait for a subscriber; a slower subscriber is dropped. */
export const MAX_WAITING_BYTES = 1_048_576;
/** Close codes (RFC 6455 section 7.4.1, and 4000-4999 for applications). */
export const CLOSE = { tooSlow: 1013, sessionEnded: 4401 } as const;
/** Close reasons after a change of the session. */
export const SESSION_OVER = 'the session ended or changed its domain';
/** Time for a slow line to take the waiting bytes and the close reason. */
export const LINGER_MS = 15_000;

/** The parameters of `subscribe`. */
export const SubscribeFrame = Type.Object(
  {
    qid: Qid,
    ...SelectionFields,
    after: Type.Optional(Type.Integer({ minimum: 0 })),
    expires: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_EXPIRES })),
  },
  { additionalProperties: false },
);

/** Runs one REST request of the connection. @param turns reserves room for the answer until it is sent */
export type RunRest = (frame: RestFrame, turns: Turns) => Promise<RestAnswer>;

const compile = schemaCompiler();
const checkers = {
  subscribe: compile({ schema: SubscribeFrame, httpPart: 'body', method: '', url: '' }),
  qid: compile({ schema: Type.Object({ qid: Qid }), httpPart: 'body', method: '', url: '' }),
  rest: compile({ schema: Rest, httpPart: 'body', method: '', url: '' }),
};

/** One WebSocket: two-element frames `["method", {...}]` in, answers `["<method>_result", {...}]` and events out. */
export class EventConnection implements Subscriber {
  readonly #socket: WebSocket;
  readonly #stream: Duplex;
  #session: Session;
  readonly #subscribers: Subscribers;
  readonly #runRest: RunRest;
  readonly #subscriptions = new Map<string, Subscribed>();
  readonly #turns = new Turns();

  /** @param stream the connection below the socket */
  constructor(socket: WebSocket, stream: Duplex, session: Session, subscribers: Subscribers, runRest: RunRest) {
    this.#socket = socket;
    this.#stream = stream;
    this.#session = session;
    this.#subscribers = subscribers;
    this.#runRest = runRest;
    socket.on('message', (data: Buffer, isBinary: boolean) => void this.#receive(data, isBinary));
    socket.on('close', () => {
      this.#turns.close();
      for (const subscribed of this.#subscriptions.values()) subscribers.detach(session, subscribed);
    });
  }

  /** Continues with the present session, or closes when it has ended. */
  follow(now: Session | undefined): void {
    if (now?.domain === this.#session.domain) this.#session = now;
    else this.drop(CLOSE.sessionEnded, SESSION_OVER);
  }

  sinkOf(id: string): Sink {
    return (delivery) => this.#write(`["event",${toldEvent(id, delivery)}]`);
  }

  ended(id: string, reason: string): void {
    this.#subscriptions.delete(id);
    this.#send('unsubscribed', { id, reason });
  }

  /** Closes with a reason, after the waiting bytes; the connection ends even if the client does not read. */
  drop(code: number, reason: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#socket.close(code, reason);
    setTimeout(() => this.#socket.terminate(), LINGER_MS).unref();
  }

  async #receive(data: Buffer, isBinary: boolean): Promise<void> {
    // Dropped, but not closed yet.
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    let method = 'error';
    let qid: unknown;
    try {
      const [name, parameters] = isBinary ? refuseFrame() : frameOf(data);
      method = name;
      ({ qid } = checked<{ qid?: unknown }>(checkers.qid(parameters)));
      if (method === 'rest') await this.#rest(checked<RestFrame>(checkers.rest(parameters)), data.length);
      else {
        const answer = await this.#answer(method, parameters);
        if (answer !== undefined) this.#send(`${method}_result`, { qid, result: 'ok', ...answer });
      }
    } catch (error) {
      const shown = toRestError(error);
      this.#send(`${method}_result`, { qid, result: 'error', status: shown.status, ...shown.toObject() });
    }
  }

  async #answer(method: string, parameters: object): Promise<object | undefined> {
    switch (method) {
      case 'subscribe': {
        const asked = checked<Static<typeof SubscribeFrame>>(checkers.subscribe(parameters));
        const { prepare } = this.#subscribers;
        if (prepare !== undefined && asked.expires !== 0) await prepare(this.#session, asked);
        // Else the client is gone meanwhile.
        return this.#socket.readyState === this.#socket.OPEN ? this.#subscribe(asked) : undefined;
      }
      case 'ping':
        return {};
      default:
        throw badParameter('method', 'is not known; use subscribe, rest or ping');
    }
  }

  #subscribe({ qid: _qid, ...request }: Static<typeof SubscribeFrame>): object {
    const { id } = request;
    if (request.expires === 0) {
      if (id === undefined) throw badParameter('id', 'is missing; it names the subscription to end');
      this.#subscriptions.delete(id);
      this.#subscribers.end(this.#session, id);
      return { id, expires: 0 };
    }
    const subscribed = this.#subscribers.subscribe(this.#session, request, this);
    this.#subscriptions.set(subscribed.id, subscribed);
    const { sink: _sink, ...answer } = subscribed;
    return answer;
  }

  async #rest(frame: RestFrame, bytes: number): Promise<void> {
    const done = await this.#turns.next(bytes);
    try {
      const { status, body, encoding } = await this.#runRest(frame, this.#turns);
      const head = { qid: frame.qid, result: status < 400 ? 'ok' : 'error', status, encoding };
      const text = `["rest_result",${JSON.stringify(head).slice(0, -1)},"body":${body}}]`;
      this.#write(text, () => this.#turns.give(body.length));
    } finally {
      done();
    }
  }

  #send(method: string, parameters: object): void {
    this.#write(JSON.stringify([method, parameters]));
  }

  /**
   * Drops a client that does not read its events. Answers have a limit of their own: a large one takes time on a slow line.
   */
  #write(frame: string, sent: () => void = () => {}): void {
    const socket = this.#socket;
    if (socket.readyState !== socket.OPEN) return sent();
    if (socket.bufferedAmount - this.#turns.answerBytes > MAX_WAITING_BYTES) {
      sent();
      this.#subscribers.dropped('websocket');
      return this.drop(CLOSE.tooSlow, `too slow: more than ${MAX_WAITING_BYTES} bytes wait`);
    }
    gathered(this.#stream);
    socket.send(frame, sent);
  }
}

function refuseFrame(): never {
  throw badParameter('frame', 'must be the text of a JSON array ["method", {...}]');
}

function frameOf(data: Buffer): readonly [method: string, parameters: object] {
  let frame: unknown;
  try {
    frame = JSON.parse(data.toString('utf8'));
  } catch {
    refuseFrame();
  }
  if (!Array.isArray(frame) || frame.length !== 2) refuseFrame();
  if (nestsDeeper(frame)) throw badParameter('frame', `nests more than ${MAX_JSON_DEPTH} deep`);
  const [method, parameters] = frame as unknown[];
  const isObject = typeof parameters === 'object' && parameters !== null && !Array.isArray(parameters);
  return typeof method === 'string' && method.length <= 32 && isObject ? [method, parameters] : refuseFrame();
}

/** @throws the error of the validation */
function checked<T>(result: unknown): T {
  const { value, error } = result as { value?: T; error?: Error };
  if (error !== undefined) throw error;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema is the type's
  return value as T;
}
