/** Events as Server-Sent Events. */
import { IncomingMessage, type ServerResponse } from 'node:http';
import { type Static, Type } from 'typebox';
import type { Iam, Session } from '../../runtime/iam/index.ts';
import type { App } from '../app.ts';
import { liveSession, secretOf, sessionOf } from '../authentication.ts';
import { badParameter } from '../errors.ts';
import { schemaCompiler } from '../validation.ts';
import { LINGER_MS, MAX_WAITING_BYTES, SESSION_OVER } from './connection.ts';
import { MAX_EXPIRES, type Selection, SelectionFields } from './selection.ts';
import type { Subscribers } from './subscribers.ts';
import { toldEvent } from './told-event.ts';

const HEARTBEAT_MS = 15_000;
/** Time that a closing server waits for a client that does not read. */
const CLOSE_MS = 1_000;

const EventsQuery = Type.Object({
  id: Type.Optional(Type.String({ maxLength: 64, pattern: '^[A-Za-z0-9_.-]+$' })),
  events: Type.Optional(Type.String({ description: 'Comma-separated: class, or class.type' })),
  objects: Type.Optional(Type.String({ description: 'Comma-separated ids' })),
  classpath: Type.Optional(Type.String()),
  mask: Type.Optional(Type.String()),
  filter: Type.Optional(Type.String({ description: 'JSON' })),
  exargs: Type.Optional(Type.String({ description: 'JSON {mask, filter}, in place of these two' })),
  expires: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_EXPIRES,
      description: 'Seconds after which the stream ends; default: never',
    }),
  ),
  after: Type.Optional(Type.Integer({ minimum: 0 })),
});

/** `id: <subscription>:<seq>`, which a browser sends back as `Last-Event-ID`. */
const LAST_EVENT_ID = /^([A-Za-z0-9_.-]{1,64}):(\d{1,15})$/;

/** Server-Sent Events (WHATWG HTML, "Server-sent events"): the same subscriptions without WebSocket. */
export function eventStream(app: App, iam: Iam, subscribers: Subscribers): void {
  const streams = new Set<ServerResponse>();
  // A stream never ends by itself, and a closing server would wait for it. Clients reconnect.
  app.addHook('preClose', async () => {
    for (const stream of streams) {
      stream.end();
      setTimeout(() => stream.destroy(), CLOSE_MS).unref();
    }
  });
  app.get(
    '/api/events',
    // Permissions are checked for each event.
    { config: { everyUser: true }, schema: { querystring: EventsQuery }, exposeHeadRoute: false },
    async (request, reply) => {
      // Within a WebSocket's `rest` there is no connection to stream to.
      if (!(request.raw instanceof IncomingMessage)) throw badParameter('path', 'is a stream; use subscribe');
      const session = sessionOf(request);
      const { id, events, objects, classpath, expires, after } = request.query;
      const lastEventId = String(request.headers['last-event-id'] ?? '');
      const last = LAST_EVENT_ID.exec(lastEventId);
      const name = last?.[1] ?? id;
      const from = last?.[2] === undefined ? after : Number(last[2]);
      const selection: Selection = {
        ...(name !== undefined && { id: name }),
        ...(events !== undefined && { events: events.split(',') }),
        ...(objects !== undefined && { objects: objects.split(',') }),
        ...(classpath !== undefined && { classpath }),
        exargs: exargsOf(request.query),
      };
      const { raw } = reply;
      const asked = { ...(name !== undefined && { id: name }), ...(from !== undefined && { after: from }) };
      await subscribers.prepare?.(session, asked);
      if (raw.destroyed) {
        reply.hijack();
        return;
      }
      const stream = new EventStream(raw, () => subscribers.dropped('sse'));
      const waiting: string[] = [];
      let open = false;
      const subscribed = subscribers.subscribe(
        session,
        { ...selection, expires: expires ?? MAX_EXPIRES, ...(from !== undefined && { after: from }) },
        {
          sinkOf: (own) => (delivery) => {
            const { seq, event } = delivery;
            const frame = `id: ${own}:${seq}\nevent: ${event.class}\ndata: ${toldEvent(own, delivery)}\n\n`;
            if (open) stream.write(frame);
            else waiting.push(frame);
          },
          ended: (_id, reason) => stream.drop(reason),
        },
      );
      reply.hijack();
      raw.writeHead(200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        connection: 'close',
        'x-content-type-options': 'nosniff',
      });
      const { sink: _sink, ...answer } = subscribed;
      // A client with a foreign `Last-Event-ID` has lost the missed events.
      const resumed = answer.resumed && (last !== null || lastEventId === '');
      open = true;
      stream.write(`event: subscribed\ndata: ${JSON.stringify({ ...answer, resumed })}\n\n`);
      for (const frame of waiting) stream.write(frame);
      const follow = (now: Session | undefined): void => {
        if (now?.domain !== session.domain) stream.drop(SESSION_OVER);
      };
      const unwatch = iam.watch(session, follow);
      const secret = secretOf(request) ?? '';
      const heartbeat = setInterval(() => {
        stream.write(':\n\n');
        if (expires === undefined) subscribers.renew(session, subscribed.id);
        // An open stream keeps the session alive.
        liveSession(iam, secret, request.ip).then(follow, (error: unknown) =>
          request.log.info({ err: error }, 'event stream'),
        );
      }, HEARTBEAT_MS).unref();
      streams.add(raw);
      raw.on('close', () => {
        streams.delete(raw);
        clearInterval(heartbeat);
        unwatch();
        subscribers.detach(session, subscribed);
      });
    },
  );
}

/** One answer as a stream of events; a client that does not read is dropped. */
class EventStream {
  readonly #raw: ServerResponse;
  readonly #onSlow: () => void;

  /** @param onSlow called when the client is dropped because it does not read */
  constructor(raw: ServerResponse, onSlow: () => void) {
    this.#raw = raw;
    this.#onSlow = onSlow;
  }

  write(text: string): void {
    const raw = this.#raw;
    if (raw.writableEnded || raw.destroyed) return;
    if (raw.writableLength <= MAX_WAITING_BYTES) raw.write(text);
    else {
      this.#onSlow();
      this.drop(`too slow: more than ${MAX_WAITING_BYTES} bytes wait`);
    }
  }

  /** Ends it with a reason after the waiting events, even if the client does not read. */
  drop(reason: string): void {
    const raw = this.#raw;
    if (raw.writableEnded || raw.destroyed) return;
    raw.end(`event: dropped\ndata: ${JSON.stringify({ reason })}\n\n`);
    setTimeout(() => raw.destroy(), LINGER_MS).unref();
  }
}

const readExargs = schemaCompiler()({ schema: SelectionFields.exargs, httpPart: 'body', method: '', url: '' });

/** @throws RestError 400/1400 for an invalid value */
function exargsOf({ mask, filter, exargs }: Static<typeof EventsQuery>): NonNullable<Selection['exargs']> {
  const { value, error } = readExargs(exargs === undefined ? {} : json('exargs', exargs)) as {
    value?: NonNullable<Selection['exargs']>;
    error?: Error;
  };
  if (error !== undefined) throw error;
  return {
    ...value,
    ...(mask !== undefined && { mask }),
    ...(filter !== undefined && { filter: json('filter', filter) }),
  };
}

function json(field: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw badParameter(field, 'is not JSON');
  }
}
