/** A small REST client of its own, over plain HTTP/1.1 with keep-alive, for any method name. */
import { Agent, request as httpRequest } from 'node:http';

export class RestAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;

  constructor(status: number, headers: RestAnswer['headers'], text: string) {
    this.status = status;
    this.headers = headers;
    this.text = text;
  }

  /** The body as JSON. The test says what it expects and checks it. */
  json<T = unknown>(): T {
    const value: T = JSON.parse(this.text);
    return value;
  }

  header(name: string): string | undefined {
    const value = this.headers[name.toLowerCase()];
    return Array.isArray(value) ? value.join(', ') : value;
  }
}

export interface RestRequest {
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export class RestClient {
  readonly base: string;
  readonly token: string | undefined;
  readonly #agent = new Agent({ keepAlive: true });

  /** @param base e.g. `http://127.0.0.1:8080` */
  constructor(base: string, token?: string) {
    this.base = base;
    this.token = token;
  }

  /** A client with a session of its own (`session_type: token`). Throws when the login is refused. */
  static async login(base: string, credentials: { domain: string; login: string; pwd: string }): Promise<RestClient> {
    const anonymous = new RestClient(base);
    try {
      const body = { ...credentials, session_type: 'token' };
      const answer = await anonymous.send('POST', '/rest/v1/iam/sessions', { body });
      if (answer.status !== 200) throw new Error(`login of ${credentials.login}: ${answer.status} ${answer.text}`);
      return new RestClient(base, answer.json<{ session_token: string }>().session_token);
    } finally {
      anonymous.close();
    }
  }

  /** The header by which another HTTP client uses the same session. */
  get authorization(): Readonly<Record<string, string>> {
    return this.token === undefined ? {} : { authorization: `Bearer ${this.token}` };
  }

  /** @param path from the root, e.g. `/rest/v1/uc/calls` */
  async send(method: string, path: string, options: RestRequest = {}): Promise<RestAnswer> {
    const url = new URL(path, this.base);
    for (const [name, value] of Object.entries(options.query ?? {})) url.searchParams.set(name, String(value));
    const body = options.body === undefined ? undefined : Buffer.from(JSON.stringify(options.body));
    const headers = {
      ...(this.token === undefined ? {} : { Authorization: `Bearer ${this.token}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': String(body.length) }),
      ...options.headers,
    };
    const { promise, resolve, reject } = Promise.withResolvers<RestAnswer>();
    const outgoing = httpRequest(url, { method, headers, agent: this.#agent }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        resolve(new RestAnswer(incoming.statusCode ?? 0, incoming.headers, Buffer.concat(chunks).toString('utf8')));
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
    return promise;
  }

  async get(path: string, query: RestRequest['query'] = {}): Promise<RestAnswer> {
    return this.send('GET', path, { query });
  }

  close(): void {
    this.#agent.destroy();
  }
}
