import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import type { App } from '../../../rest-bridge/app.ts';
import type { Health, RestDeps } from '../../../rest-bridge/deps.ts';
import { createRestServer } from '../../../rest-bridge/server.ts';
import { MemoryCalls, MemoryIam, MemoryOperations, MemoryRecords, NO_DATA } from './doubles.ts';
import { noConferences } from './no-conferences.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
  readonly text: string;
}

export interface Call {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A REST server on a real socket, with everything behind it in memory. */
export class RestNode {
  readonly iam = new MemoryIam();
  readonly calls = new MemoryCalls();
  readonly operations = new MemoryOperations(this.calls);
  readonly records = new MemoryRecords();
  readonly log: string[] = [];
  health: () => Promise<Health> = async () => ({ ok: true, roles: ['mware'], counts: { dialogs: 0 }, database: 'ok' });
  app!: App;
  port = 0;

  static async start(options: Partial<RestDeps> = {}): Promise<RestNode> {
    const node = new RestNode();
    const sink = new Writable({
      write(chunk: Buffer, _encoding, done) {
        node.log.push(chunk.toString());
        done();
      },
    });
    node.app = await createRestServer({
      iam: node.iam,
      ...NO_DATA,
      calls: node.calls,
      ...noConferences(node.calls),
      operations: node.operations,
      operationRecords: node.records.operations,
      runs: node.records,
      health: async () => node.health(),
      log: pino({ level: 'debug' }, sink),
      ...options,
    });
    await node.app.listen({ host: '127.0.0.1', port: 0 });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server's address is an AddressInfo
    node.port = (node.app.server.address() as AddressInfo).port;
    return node;
  }

  async close(): Promise<void> {
    this.app.server.closeAllConnections();
    await this.app.close();
  }

  call(method: string, path: string, call: Call = {}): Promise<Reply> {
    return request(this.port, method, path, call);
  }

  /** Sends the headers as they are, Host included, which fetch sets by itself. */
  async raw(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body: string,
  ): Promise<{ readonly status: number; readonly cookie: string | undefined; readonly body: unknown }> {
    const outgoing = httpRequest({ host: '127.0.0.1', port: this.port, method, path, headers, agent: false });
    outgoing.end(body);
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    const answer = Buffer.concat((await incoming.toArray()) as Buffer[]).toString('utf8');
    const { statusCode: status = 0, headers: answered } = incoming;
    return { status, cookie: answered['set-cookie']?.[0], body: answer === '' ? undefined : JSON.parse(answer) };
  }

  /** A token of a demo user. */
  async token(login = 'admin', domain = 'demo.local'): Promise<string> {
    const { token } = await this.iam
      .login({ domain, login, pwd: `demo-${login}` }, 'token', '127.0.0.1')
      .then((result) => {
        if (!result.ok) throw new Error(`no session: ${result.reason}`);
        return result;
      });
    return token;
  }

  /** Calls with the token of a demo user. */
  async as(login: string, method: string, path: string, call: Call = {}): Promise<Reply> {
    const authorization = `Bearer ${await this.token(login)}`;
    return this.call(method, `/rest/v1${path}`, { ...call, headers: { authorization, ...call.headers } });
  }
}

/** Sends `body` as JSON unless it is text or bytes already. */
export async function request(
  port: number,
  method: string,
  path: string,
  { body, headers = {} }: Call,
): Promise<Reply> {
  const plain = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
  const content = plain ? body : JSON.stringify(body);
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { ...(content !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(content !== undefined && { body: content }),
  });
  const answer = await response.text();
  const json = response.headers.get('content-type')?.startsWith('application/json') && answer !== '';
  return {
    status: response.status,
    headers: response.headers,
    text: answer,
    body: json ? JSON.parse(answer) : undefined,
  };
}
