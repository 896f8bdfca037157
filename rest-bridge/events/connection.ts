import type { Duplex } from 'node:stream';
import { type Static, Type } from 'typebox';
import type { WebSocket } from 'ws';
import type { Session } from '../../runtime/iam/iam.ts';
import { toRestError } from '../error-answers.ts';
import { badParameter, RestError } from '../errors.ts';
import { schemaCompiler } from '../validation.ts';
import { gathered } from './gathered.ts';
import { MAX_EXPIRES, SelectionFields } from './selection.ts';
import type { Subscribed, Subscribers } from './subscribers.ts';
import { toldEvent } from './told-event.ts';

/** Bytes that may wait for a subscriber; whoever falls behind further is dropped. */
export const MAX_WAITING_BYTES = 1_048_576;
/** Close codes (RFC 6455 section 7.4.1, and 4000-4999 for applications). */
export const CLOSE = { tooSlow: 1013, sessionEnded: 4401 } as const;
/** Why a connection is closed when its session is no longer what it was. */
export const SESSION_OVER = 'the session ended or changed its domain';
/** Requests of one connection that may run at once. */
const MAX_RUNNING = 32;
const LINGER_MS = 1_000;

const Qid = Type.Optional(Type.Union([Type.String({ maxLength: 128 }), Type.Number()]));

const Subscribe = Type.Object(
  {
    qid: Qid,
    ...SelectionFields,
    after: Type.Optional(Type.Integer({ minimum: 0 })),
    expires: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_EXPIRES })),
  },
  { additionalProperties: false },
);

const Rest = Type.Object(
  {
    qid: Qid,
    method: Type.String({ pattern: '^[A-Za-z_]{1,32}$' }),
    path: Type.String({ pattern: '^/[!-~]*$', maxLength: 8_192 }),
    query: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    body: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: false },
);

export type RestFrame = Static<typeof Rest>;

/** Runs one REST request on behalf of the connection. */
export type RunRest = (frame: RestFrame) => Promise<{ readonly status: number; readonly body: unknown }>;

const compile = schemaCompiler();
const checkers = {
  subscribe: compile({ schema: Subscribe, httpPart: 'body', method: '', url: '' }),
  rest: compile({ schema: Rest, httpPart: 'body', method: '', url: '' }),
};

/** One WebSocket: two-element frames `["method", {...}]` in, answers `["<method>_result", {...}]` and events out. */
export class EventConnection {
  readonly #socket: WebSocket;
  readonly #stream: Duplex;
  #session: Session;
  readonly #subscribers: Subscribers;
  readonly #runRest: RunRest;
  readonly #subscriptions = new Map<string, Subscribed>();
  #running = 0;

  /** @param stream the connection below the socket */
  constructor(socket: WebSocket, stream: Duplex, session: Session, subscribers: Subscribers, runRest: RunRest) {
    this.#socket = socket;
    this.#stream = stream;
    this.#session = session;
    this.#subscribers = subscribers;
    this.#runRest = runRest;
    socket.on('message', (data: Buffer, isBinary: boolean) => void this.#receive(data, isBinary));
    socket.on('close', () => {
      for (const subscribed of this.#subscriptions.values()) subscribers.detach(session, subscribed);
    });
  }

  /** Goes on with the session as it is now, or ends with it. */
  follow(now: Session | undefined): void {
    if (now?.domain === this.#session.domain) this.#session = now;
    else this.drop(CLOSE.sessionEnded, SESSION_OVER);
  }

  /** Closes with a reason; the connection ends soon even if nobody reads it. */
  drop(code: number, reason: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#socket.close(code, reason);
    setTimeout(() => this.#socket.terminate(), LINGER_MS).unref();
  }

  async #receive(data: Buffer, isBinary: boolean): Promise<void> {
    let method = 'error';
    let qid: unknown;
    try {
      const [name, parameters] = isBinary ? refuseFrame() : frameOf(data);
      method = name;
      qid = 'qid' in parameters ? parameters.qid : undefined;
      this.#send(`${method}_result`, { qid, result: 'ok', ...(await this.#answer(method, parameters)) });
    } catch (error) {
      const shown = toRestError(error);
      this.#send(`${method}_result`, { qid, result: 'error', status: shown.status, ...shown.toObject() });
    }
  }

  async #answer(method: string, parameters: object): Promise<object> {
    switch (method) {
      case 'subscribe':
        return this.#subscribe(checked<Static<typeof Subscribe>>(checkers.subscribe(parameters)));
      case 'rest':
        return await this.#rest(checked<RestFrame>(checkers.rest(parameters)));
      case 'ping':
        return {};
      default:
        throw badParameter('method', 'is not known; use subscribe, rest or ping');
    }
  }

  #subscribe({ qid: _qid, ...request }: Static<typeof Subscribe>): object {
    const { id } = request;
    if (request.expires === 0) {
      if (id === undefined) throw badParameter('id', 'is missing; it names the subscription to end');
      this.#subscriptions.delete(id);
      this.#subscribers.end(this.#session, id);
      return { id, expires: 0 };
    }
    const subscribed = this.#subscribers.subscribe(this.#session, request, (own) => (delivery) => {
      this.#write(`["event",${toldEvent(own, delivery)}]`);
    });
    this.#subscriptions.set(subscribed.id, subscribed);
    const { sink: _sink, ...answer } = subscribed;
    return answer;
  }

  async #rest(frame: RestFrame): Promise<object> {
    if (this.#running >= MAX_RUNNING)
      throw new RestError('UNAVAILABLE', { reason: `${MAX_RUNNING} requests are running` });
    this.#running++;
    try {
      const { status, body } = await this.#runRest(frame);
      return { result: status < 400 ? 'ok' : 'error', status, body };
    } finally {
      this.#running--;
    }
  }

  #send(method: string, parameters: object): void {
    this.#write(JSON.stringify([method, parameters]));
  }

  #write(frame: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#socket.bufferedAmount > MAX_WAITING_BYTES) {
      return this.drop(CLOSE.tooSlow, `too slow: more than ${MAX_WAITING_BYTES} bytes wait`);
    }
    gathered(this.#stream);
    this.#socket.send(frame);
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
  const [method, parameters] = frame as unknown[];
  const isObject = typeof parameters === 'object' && parameters !== null && !Array.isArray(parameters);
  return typeof method === 'string' && method.length <= 32 && isObject ? [method, parameters] : refuseFrame();
}

/** @throws what the validation says */
function checked<T>(result: unknown): T {
  const { value, error } = result as { value?: T; error?: Error };
  if (error !== undefined) throw error;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema is the type's
  return value as T;
}
