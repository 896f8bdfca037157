/** Accepts WebSockets. */
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Iam, Session } from '../../runtime/iam/index.ts';
import type { App } from '../app.ts';
import { liveSession, secretOfHeaders, SESSION_COOKIE, sessionOfSecret } from '../authentication.ts';
import { toRestError } from '../error-answers.ts';
import { RestError } from '../errors.ts';
import { refuseForeignOrigin } from '../same-origin.ts';
import { SIP_PATH, type SipTunnels } from '../sip-websocket.ts';
import { EventConnection } from './connection.ts';
import { runRest } from './rest-frame.ts';
import type { Subscribers } from './subscribers.ts';

export const PATH = '/ws';
const MAX_FRAME = 1_048_576;
/** Interval of pings, which also keep the session alive. */
const CHECK_MS = 15_000;

interface WebSocketDeps {
  readonly iam: Iam;
  /** Undefined: the node serves no events. */
  readonly subscribers: Subscribers | undefined;
  /** Takes the upgrades to `/sip`, which need no session: phones log in by SIP. */
  readonly sip: SipTunnels | undefined;
}

interface Opened {
  readonly stream: Duplex;
  readonly session: Session;
  readonly secret: string;
  readonly ip: string;
  readonly subscribers: Subscribers;
}

/** WebSocket at `/ws` (decisions, "Events and WebSocket"): a client without a session gets 401 before the upgrade. */
export function webSockets(app: App, { iam, subscribers, sip }: WebSocketDeps): void {
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_FRAME });
  server.on('wsClientError', ({ message }, socket) => {
    refuse(socket, new RestError('BAD_REQUEST', { reason: message }, { 'sec-websocket-version': '13' }));
  });

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    if (sip !== undefined && request.url?.split('?', 1)[0] === SIP_PATH) {
      sip.open(request, socket, head);
      return;
    }
    if (subscribers === undefined) throw new RestError('ENDPOINT_NOT_FOUND');
    const secret = secretOfHeaders(request.headers.authorization, cookieOf(app, request));
    const ip = request.socket.remoteAddress ?? '';
    const session = await sessionOfSecret(iam, secret, ip);
    if (request.url?.split('?', 1)[0] !== PATH) throw new RestError('ENDPOINT_NOT_FOUND');
    refuseForeignOrigin(request.headers);
    server.handleUpgrade(request, socket, head, (webSocket) =>
      open(webSocket, { stream: socket, session, secret: secret ?? '', ip, subscribers }),
    );
  }

  function open(socket: WebSocket, opened: Opened): void {
    const { stream, session, secret, ip } = opened;
    const connection = new EventConnection(socket, stream, session, opened.subscribers, (frame, turns) =>
      runRest(app, frame, { secret, ip }, turns),
    );
    const unwatch = iam.watch(session, (now) => connection.follow(now));
    let alive = true;
    const check = setInterval(() => {
      if (!alive) {
        socket.terminate();
        return;
      }
      alive = false;
      socket.ping();
      // Its use keeps the session alive.
      liveSession(iam, secret, ip).then((now) => connection.follow(now), toLog);
    }, CHECK_MS).unref();
    socket.on('pong', () => {
      alive = true;
    });
    socket.on('error', toLog);
    socket.on('close', () => {
      clearInterval(check);
      unwatch();
    });
  }

  const toLog = (error: unknown): void => app.log.info({ err: error }, 'WebSocket');

  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', toLog);
    upgrade(request, socket, head).catch((error: unknown) => refuse(socket, toRestError(error)));
  });
  app.addHook('preClose', async () => {
    for (const socket of server.clients) socket.terminate();
    sip?.close();
    subscribers?.close();
  });
}

function cookieOf(app: App, { headers }: IncomingMessage): string | undefined {
  return headers.cookie === undefined ? undefined : app.parseCookie(headers.cookie)[SESSION_COOKIE];
}

function refuse(socket: Duplex, error: RestError): void {
  const body = JSON.stringify(error.toObject());
  const headers = Object.entries(error.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}\r\n${headers.join('')}` +
      `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  );
}
