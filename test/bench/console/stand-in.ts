/** What the console sees of a node with many calls: the page, its list of calls and their events. No call is made. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { Bundle } from '../../../rest-bridge/console/bundle.ts';

const TYPES: Readonly<Record<string, string>> = { js: 'text/javascript', css: 'text/css' };
const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Ringmaster</title>
<link rel="stylesheet" href="/console/main.css"><script type="module" src="/console/main.js"></script><div id="app"></div>`;
const SESSION = { domain: 'demo.local', domains: [], login: 'admin', name: 'Admin', roles: [], user_id: 'u1' };
const TICK_MS = 20;

/** A call of `GET /uc/calls`, as long as those of a node. */
function callOf(index: number, status: 'forking' | 'dialog'): object {
  const leg = (side: 'a' | 'b', user: string) => ({
    callid: `${index}-${side}-4f1c09d2ab7e@demo.local`,
    side,
    localuri: '<sip:102@demo.local>',
    remoteuri: `"${user} ${index}" <sip:${user}${index}@demo.local>`,
  });
  return {
    dialogid: `dialog-${index}`,
    inviteid: `invite-${index}-938efcd7-d248-43de-b915-749cab5786ee`,
    status,
    remoteuri: `"Caller ${index}" <sip:caller${index}@demo.local>`,
    localuri: `<sip:${100 + index}@demo.local>`,
    startts: Date.UTC(2026, 0, 1) + index * 100,
    site: 'main',
    legs: [leg('a', 'caller'), leg('b', 'called')],
  };
}

export class StandIn {
  readonly #bundle = new Bundle();
  readonly #calls: number;
  readonly #server: Server;
  readonly #sockets = new Set<{ readonly socket: WebSocket; readonly ids: Set<string>; seq: number }>();
  #changing: NodeJS.Timeout | undefined;
  #changes = 0;
  /** Events sent to each subscriber. */
  events = 0;

  private constructor(calls: number) {
    this.#calls = calls;
    this.#server = createServer((request, response) => void this.#answer(request, response));
    new WebSocketServer({ server: this.#server, path: '/ws' }).on('connection', (socket) => this.#connected(socket));
  }

  static async start(calls: number): Promise<StandIn> {
    const standIn = new StandIn(calls);
    standIn.#server.listen(0, '127.0.0.1');
    await once(standIn.#server, 'listening');
    return standIn;
  }

  get base(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Calls change from now on, each with an event. @param rate a second; 0: none */
  change(rate: number): void {
    clearInterval(this.#changing);
    if (rate === 0) return;
    const began = performance.now();
    let sent = 0;
    this.#changing = setInterval(() => {
      for (; sent < ((performance.now() - began) / 1000) * rate; sent += 1) this.#tell();
    }, TICK_MS);
  }

  close(): void {
    this.change(0);
    for (const { socket } of this.#sockets) socket.terminate();
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #tell(): void {
    // All over the list, and again and again.
    this.#changes += 7919;
    this.events += 1;
    const index = this.#changes % this.#calls;
    const data = {
      inviteid: `invite-${index}`,
      connectionid: `invite-${index}`,
      dialogid: `dialog-${index}`,
      callid: '',
    };
    for (const each of this.#sockets)
      for (const id of each.ids) {
        each.seq += 1;
        const told = { id, seq: each.seq, class: 'callevents', type: 'call_answered', ts: Date.now(), data };
        each.socket.send(JSON.stringify(['event', told]));
      }
  }

  #connected(socket: WebSocket): void {
    const subscriber = { socket, ids: new Set<string>(), seq: 0 };
    this.#sockets.add(subscriber);
    socket.on('close', () => this.#sockets.delete(subscriber));
    socket.on('message', (text: Buffer) => {
      const [, { id, expires }] = JSON.parse(text.toString()) as [string, { id: string; expires?: number }];
      if (expires === 0) subscriber.ids.delete(id);
      else subscriber.ids.add(id);
      socket.send(JSON.stringify(['subscribe_result', { qid: id, id, result: 'ok', resumed: false, seq: 0 }]));
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.base);
    const [, name] = /^\/console\/([\w.-]+)$/.exec(pathname) ?? [];
    if (name !== undefined) {
      const { content } = (await (await this.#bundle.file(name))?.encoded('')) ?? { content: '' };
      response.setHeader('content-type', TYPES[name.split('.').at(-1) ?? ''] ?? '').end(content);
    } else if (pathname === '/') response.setHeader('content-type', 'text/html').end(PAGE);
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(this.#read(pathname, searchParams)));
  }

  #read(path: string, query: URLSearchParams): unknown {
    if (path.endsWith('/iam/sessions/current')) return SESSION;
    if (!path.endsWith('/uc/calls')) return [];
    const { dialogid } = JSON.parse(query.get('filter') ?? '{}') as { readonly dialogid?: string };
    const wanted = dialogid?.split('|').map((id) => Number(id.replace('dialog-', '')));
    const indexes =
      wanted ?? Array.from({ length: Number(query.get('limit') ?? this.#calls) }, (_call, index) => index);
    return indexes.map((index) => callOf(index, (index + this.#changes) % 2 === 0 ? 'dialog' : 'forking'));
  }
}
