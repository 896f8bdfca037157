/** The HTTP client for scenarios. */
import { lookup as resolve } from 'node:dns';
import { createWriteStream } from 'node:fs';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { ScenarioError } from '../../runtime/language/index.ts';
import type { HttpPort, HttpRequest, HttpResponse } from '../../runtime/runs/index.ts';
import { type Attributes, traced } from '../../runtime/tracing/index.ts';
import { AddressGuard, HostGuard } from './address-guard.ts';

export interface HttpClientOptions {
  /** Allowed hosts: names, `*.example.com`, or `*`. Empty: no requests. */
  readonly hosts: readonly string[];
  /** Loopback, private and link-local addresses and networks that may be reached. */
  readonly networks?: readonly string[];
  /** Limit of concurrent requests of all runs; more are refused. Default 200. */
  readonly concurrency?: number;
}

type GuardedRequest = Omit<HttpRequest, 'domain'>;

export interface DownloadRequest extends Omit<GuardedRequest, 'method' | 'body'> {
  /** Path of the new file. */
  readonly target: string;
}

interface Answer<Body> extends Omit<HttpResponse, 'body'> {
  readonly body: Body;
}

/** Takes the body of an answer, of at most `maxBytes`. */
type TakeBody<Body> = (response: IncomingMessage, maxBytes: number) => Promise<Body>;

const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MAX_HEADER_BYTES = 16_384;
const DEFAULT_CONCURRENCY = 200;
/** Header fields about the connection, which only the client sets. */
const OWN_HEADERS = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'upgrade', 'te', 'trailer']);

/**
 * An HTTP client for scenarios. It sends requests only to allowed hosts and checks the address of the actual connection, so
 * that no name or redirect can reach the node's own network.
 */
export class GuardedHttpClient implements HttpPort {
  readonly #hosts: HostGuard;
  readonly #addresses: AddressGuard;
  readonly #concurrency: number;
  #running = 0;

  /** @throws AllowListError */
  constructor({ hosts, networks = [], concurrency = DEFAULT_CONCURRENCY }: HttpClientOptions) {
    this.#hosts = new HostGuard(hosts);
    this.#addresses = new AddressGuard(networks);
    this.#concurrency = concurrency;
  }

  request(request: HttpRequest): Promise<HttpResponse> {
    return this.#limited(request, read);
  }

  async #limited<Body>(request: GuardedRequest, take: TakeBody<Body>): Promise<Answer<Body>> {
    if (this.#running >= this.#concurrency)
      throw new ScenarioError('http_busy', `${this.#concurrency} requests are in progress already`);
    this.#running += 1;
    const timeout = AbortSignal.timeout(request.timeoutMs);
    try {
      const limited = { ...request, signal: AbortSignal.any([request.signal, timeout]) };
      return await traced(
        `HTTP ${request.method}`,
        'client',
        () => described(request),
        async (span) => {
          const response = await this.#follow(
            span === undefined ? limited : withTraceparent(limited, span.traceparent),
            take,
          );
          span?.set({ 'http.response.status_code': response.status });
          return response;
        },
      );
    } catch (error) {
      if (timeout.aborted && !request.signal.aborted)
        throw new ScenarioError('http_timeout', `no answer within ${request.timeoutMs} ms`, { cause: error });
      throw error;
    } finally {
      this.#running -= 1;
    }
  }

  async #follow<Body>(first: GuardedRequest, take: TakeBody<Body>): Promise<Answer<Body>> {
    let request = { ...first, headers: allowedHeaders(first.headers) };
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const url = this.#allowedUrl(request.url);
      const response = await exchange(url, request, this.#lookup, take);
      const { location } = response.headers;
      if (!REDIRECTS.has(response.status) || location === undefined) return response;
      request = redirected(request, url, location, response.status);
    }
    throw new ScenarioError('http_failed', `more than ${MAX_REDIRECTS} redirects`);
  }

  /**
   * Downloads a body into a new file, by GET.
   *
   * @throws ScenarioError codes as `request`
   */
  async download({ target, ...asked }: DownloadRequest): Promise<Omit<HttpResponse, 'body'>> {
    const request = { ...asked, method: 'GET', body: undefined };
    const { status, headers } = await this.#limited(request, (response, maxBytes) => save(response, maxBytes, target));
    return { status, headers };
  }

  check(url: string): void {
    this.#allowedUrl(url);
  }

  #allowedUrl(text: string): URL {
    let url: URL;
    try {
      url = new URL(text);
    } catch (error) {
      throw new ScenarioError('http_forbidden', `"${text}" is no URL`, { cause: error });
    }
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw new ScenarioError('http_forbidden', `${url.protocol} is not allowed`);
    if (url.username !== '' || url.password !== '')
      throw new ScenarioError('http_forbidden', 'credentials in a URL are not allowed: use a header');
    if (!this.#hosts.mayAsk(url.hostname))
      throw new ScenarioError(
        'http_forbidden',
        `the host ${url.hostname} is not allowed: the operator allows hosts by RINGMASTER_SCENARIO_HOSTS`,
      );
    // An address needs no lookup, which would check it.
    const address = url.hostname.replace(/^\[(.*)\]$/, '$1');
    if (isIP(address) !== 0 && !this.#addresses.mayReach(address)) throw forbiddenAddress(url.hostname);
    return url;
  }

  /** Resolves a name; refuses it when any of its addresses is forbidden. */
  readonly #lookup: LookupFunction = (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      if (!addresses.every(({ address }) => this.#addresses.mayReach(address)))
        return callback(forbiddenAddress(hostname), []);
      const [first] = addresses;
      if (options.all === true) callback(null, addresses);
      else callback(null, first?.address ?? '', first?.family);
    });
  };
}

/** The URL has no place in a trace: it may contain secrets. */
function described({ method, url }: GuardedRequest): Attributes {
  return {
    'http.request.method': method,
    'server.address': URL.canParse(url) ? new URL(url).hostname : undefined,
  };
}

/** The header of the author takes precedence. */
function withTraceparent<R extends GuardedRequest>(request: R, traceparent: string): R {
  const isOwn = Object.keys(request.headers).some((name) => name.toLowerCase() === 'traceparent');
  return isOwn ? request : { ...request, headers: { ...request.headers, traceparent } };
}

function forbiddenAddress(host: string): ScenarioError {
  return new ScenarioError(
    'http_forbidden',
    `${host} is in a network that is not allowed: the operator allows networks by RINGMASTER_SCENARIO_NETWORKS`,
  );
}

function allowedHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name.toLowerCase())));
}

/** The request that follows a redirect (RFC 9110 section 15.4). Another origin gets no credentials. */
function redirected<T extends GuardedRequest>(request: T, from: URL, location: string, status: number): T {
  if (!URL.canParse(location, from.href)) throw new ScenarioError('http_failed', 'the redirect leads to no URL');
  const to = new URL(location, from);
  const foreign = to.origin !== from.origin;
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(([name]) => !foreign || !/^(authorization|cookie)$/i.test(name)),
  );
  const asGet = status === 303 || ((status === 301 || status === 302) && request.method === 'POST');
  return { ...request, url: to.href, headers, ...(asGet ? { method: 'GET', body: undefined } : {}) };
}

async function exchange<Body>(
  url: URL,
  request: GuardedRequest,
  lookup: LookupFunction,
  take: TakeBody<Body>,
): Promise<Answer<Body>> {
  const { promise, resolve: answered, reject } = Promise.withResolvers<IncomingMessage>();
  const send: typeof httpRequest = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const { method, body, signal, maxBytes } = request;
  // Node.js sets no length for the body of a GET or DELETE, and a server would read it as the next request.
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  const headers = { ...request.headers, ...length };
  try {
    signal.throwIfAborted();
    // A separate connection: an idle one might go to an address that was checked for another domain.
    const outgoing = send(url.href, { method, headers, signal, lookup, agent: false, maxHeaderSize: MAX_HEADER_BYTES });
    outgoing.on('response', answered);
    outgoing.on('error', reject);
    outgoing.end(body);
    const response = await promise;
    return { status: response.statusCode ?? 0, headers: flat(response), body: await take(response, maxBytes) };
  } catch (error) {
    if (error instanceof ScenarioError || signal.aborted) throw error;
    const { message } = error as Error;
    throw new ScenarioError('http_failed', `${url.host}: ${message}`, { cause: error });
  }
}

function flat({ headers }: IncomingMessage): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : value,
  ]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Record<string, string>;
}

async function read(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  // Leaving the loop by an error closes the connection.
  for await (const chunk of withinLimit(response, maxBytes)) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

async function save(response: IncomingMessage, maxBytes: number, target: string): Promise<void> {
  await pipeline(withinLimit(response, maxBytes), createWriteStream(target));
}

async function* withinLimit(response: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer> {
  // Refused before it is read, when the server says so.
  let size = Number(response.headers['content-length'] ?? 0);
  if (size > maxBytes) throw tooLarge(maxBytes);
  size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    yield chunk;
  }
}

function tooLarge(maxBytes: number): ScenarioError {
  return new ScenarioError('http_too_large', `the answer has more than ${maxBytes} bytes`);
}
