/** REST requests within a WebSocket. */
import { type Static, Type } from 'typebox';
import { type App, BASE_PATH } from '../app.ts';
import { RestError } from '../errors.ts';
import { CUSTOM_METHODS, suffixedTarget } from '../http/methods.ts';
import { MAX_ANSWER_BYTES, type Turns } from './turns.ts';

export const Qid = Type.Optional(Type.Union([Type.String({ maxLength: 128 }), Type.Number()]));

/** A `rest` frame. A URL ends at a `#`, and `\` counts as a slash: both must be percent-encoded in ids. */
export const Rest = Type.Object(
  {
    qid: Qid,
    method: Type.String({ pattern: '^[A-Za-z_]{1,32}$' }),
    path: Type.String({ pattern: String.raw`^/[!"$-\[\]-~]*$`, maxLength: 8_192 }),
    query: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    body: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: false },
);

export type RestFrame = Static<typeof Rest>;

export interface RestAnswer {
  readonly status: number;
  /** JSON text. */
  readonly body: string;
  /** Set for a binary file, with the body in base64. */
  readonly encoding?: 'base64';
}

/** The session and peer of the requests. */
export interface Caller {
  /** Token of the session. */
  readonly secret: string;
  readonly ip: string;
}

/**
 * Runs a frame through the same routes, roles and checks as a request of its own.
 *
 * @param room reserves the bytes of the answer's body, until it is sent
 * @throws RestError 405 and 404; 413/1506 for a too large answer
 */
export async function runRest(app: App, frame: RestFrame, { secret, ip }: Caller, room: Turns): Promise<RestAnswer> {
  const { method, url } = requestOf(frame);
  const { body } = frame;
  const response = await app.inject({
    method,
    url,
    remoteAddress: ip,
    headers: {
      authorization: `Bearer ${secret}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { payload: JSON.stringify(body) }),
    payloadAsStream: true,
  });
  const chunks: Buffer[] = [];
  let taken = 0;
  try {
    for await (const chunk of response.stream() as AsyncIterable<Buffer>) {
      if (!room.take(chunk.length)) throw tooLarge();
      taken += chunk.length;
      chunks.push(chunk);
    }
    const answer = answerOf(response.statusCode, response.headers['content-type'] ?? '', Buffer.concat(chunks));
    const grown = answer.body.length - taken;
    if (grown > 0 && !room.take(grown)) throw tooLarge();
    if (grown < 0) room.give(-grown);
    return answer;
  } catch (error) {
    room.give(taken);
    // Stops reading a file for it.
    response.raw.res.destroy();
    throw error;
  }
}

function tooLarge(): RestError {
  return new RestError('ANSWER_TOO_LARGE', { limit: MAX_ANSWER_BYTES });
}

function requestOf({ method, path, query }: RestFrame) {
  const name = method.toUpperCase();
  const url = new URL(path.startsWith(`${BASE_PATH}/`) ? path : BASE_PATH + path, 'http://localhost');
  for (const [key, value] of Object.entries(query ?? {})) {
    url.searchParams.set(key, typeof value === 'string' ? value : JSON.stringify(value));
  }
  if (!url.pathname.startsWith(`${BASE_PATH}/`)) throw new RestError('ENDPOINT_NOT_FOUND');
  const target = url.pathname + url.search;
  const custom = CUSTOM_METHODS.has(name) ? suffixedTarget(name, target) : undefined;
  if (custom !== undefined) return { method: 'POST', url: custom } as const;
  const native = (['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const).find(
    (known) => known === name,
  );
  if (native === undefined) throw new RestError('METHOD_NOT_ALLOWED', { method: name });
  return { method: native, url: target };
}

function answerOf(status: number, type: string, bytes: Buffer): RestAnswer {
  if (bytes.length === 0) return { status, body: '""' };
  const text = bytes.toString('utf8');
  // A file of this type need not be valid JSON.
  if (type.startsWith('application/json') && isJson(text)) return { status, body: text };
  if (/^(?:text\/|application\/json)/.test(type)) return { status, body: JSON.stringify(text) };
  return { status, body: `"${bytes.toString('base64')}"`, encoding: 'base64' };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
