/** Makes the AsyncAPI 3 document of the WebSocket, from the schemas that check its frames and from those of the events. */
import { type TSchema, Type } from 'typebox';
import { namedEvents } from '../../runtime/events/index.ts';
import { SESSION_COOKIE } from '../authentication.ts';
import { SubscribeFrame } from '../events/connection.ts';
import { Qid, Rest } from '../events/rest-frame.ts';
import { PATH } from '../events/websocket.ts';
import { ErrorAnswer } from '../routes/schemas.ts';
import { componentOf, dataSchemas } from './events.ts';
import { type Json, type JsonObject, plain } from './operation.ts';

const DESCRIPTION = `Frames are texts with JSON arrays of two elements, \`["method", {...}]\`. The answer to \`method\` is
\`method_result\` with the same \`qid\`. Events come for subscriptions.`;

const Failed = Type.Object({
  qid: Qid,
  result: Type.Literal('error'),
  status: Type.Integer(),
  ...ErrorAnswer.properties,
});

/** Frames of the client, with the success that answers them. */
const REQUESTS = {
  subscribe: {
    summary: 'Subscribes to events, renews or ends a subscription.',
    request: SubscribeFrame,
    answer: Type.Object({
      qid: Qid,
      result: Type.Literal('ok'),
      id: Type.String({ description: 'Id of the subscription' }),
      resumed: Type.Optional(Type.Boolean({ description: 'False: events were lost' })),
      seq: Type.Optional(Type.Integer({ description: 'Number of the latest event of the subscription' })),
      expires: Type.Integer({ description: 'Seconds; 0: it is ended' }),
    }),
  },
  rest: {
    summary: 'Runs a REST request.',
    request: Rest,
    answer: Type.Object({
      qid: Qid,
      result: Type.Enum(['ok', 'error']),
      status: Type.Integer(),
      encoding: Type.Optional(Type.Literal('base64', { description: 'The body is a binary file' })),
      body: Type.Unknown({ description: 'As over HTTP; empty text without a body' }),
    }),
  },
  ping: {
    summary: 'Asks for an answer.',
    request: Type.Object({ qid: Qid }, { additionalProperties: true }),
    answer: Type.Object({ qid: Qid, result: Type.Literal('ok') }),
  },
} as const;

const UNSUBSCRIBED = Type.Object({ id: Type.String(), reason: Type.String() });

/** The two-element array. AsyncAPI's schemas are a superset of JSON Schema draft 7. */
function frame(method: string, parameters: Json): JsonObject {
  return { type: 'array', items: [{ const: method }, parameters], minItems: 2, maxItems: 2 };
}

/** @param server the scheme and the host of the request for the document */
export function asyncApiDocument(server: { readonly protocol: string; readonly host: string }): JsonObject {
  const messages: Record<string, JsonObject> = {};
  const operations: Record<string, JsonObject> = {};
  const add = (name: string, summary: string, payload: JsonObject): void => {
    messages[name] = { name, summary, payload };
  };
  for (const [method, { summary, request, answer }] of Object.entries(REQUESTS)) {
    add(method, summary, frame(method, plain(request)));
    add(`${method}_result`, `The answer to ${method}.`, frame(`${method}_result`, eitherOf(answer, Failed)));
    operations[method] = {
      action: 'receive',
      channel: CHANNEL,
      summary,
      messages: [inChannel(method)],
      reply: { channel: CHANNEL, messages: [inChannel(`${method}_result`)] },
    };
  }
  add('unsubscribed', 'A subscription ended.', frame('unsubscribed', plain(UNSUBSCRIBED)));
  const events = namedEvents().map((event) => {
    const name = event.name.replace('*', 'any');
    add(name, event.description, frame('event', eventPayload(event.class, event.type, componentOf(event))));
    return name;
  });
  operations['event'] = {
    action: 'send',
    channel: CHANNEL,
    summary: 'Sends the events of the subscriptions.',
    messages: [...events, 'unsubscribed'].map(inChannel),
  };
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Ringmaster',
      version: 'v1',
      description: DESCRIPTION,
      license: { name: 'MIT' },
    },
    defaultContentType: 'application/json',
    servers: {
      node: {
        host: server.host,
        protocol: server.protocol === 'https' ? 'wss' : 'ws',
        security: [{ $ref: '#/components/securitySchemes/token' }, { $ref: '#/components/securitySchemes/cookie' }],
      },
    },
    channels: {
      ws: {
        address: PATH,
        messages: Object.fromEntries(
          Object.keys(messages).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
        ),
      },
    },
    operations,
    components: {
      messages,
      schemas: dataSchemas(),
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'The session_token of a login' },
        cookie: { type: 'httpApiKey', in: 'cookie', name: SESSION_COOKIE },
      },
    },
  };
}

const CHANNEL = { $ref: '#/channels/ws' } as const;

function inChannel(name: string): JsonObject {
  return { $ref: `#/channels/ws/messages/${name}` };
}

function eitherOf(...schemas: readonly TSchema[]): JsonObject {
  return { anyOf: schemas.map(plain) };
}

function eventPayload(ofClass: string, type: string, component: string): Json {
  return plain(
    Type.Object({
      id: Type.String({ description: 'Id of the subscription' }),
      seq: Type.Integer({ description: 'Number within the subscription, from 1 without gaps' }),
      class: Type.Literal(ofClass),
      type: type === '*' ? Type.String() : Type.Literal(type),
      ts: Type.Integer({ description: 'Milliseconds since the epoch' }),
      data: Type.Ref(`#/components/schemas/${component}`),
    }),
  );
}
