/** Sends one attempt of a delivery. */
import { lookup as resolve } from 'node:dns';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { type Addresses, addressOf, addressProblem } from './target.ts';

export interface Outgoing {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
}

/** What an attempt came to: the status of the answer, or why there is none. */
export interface Attempt {
  readonly status?: number;
  /** Empty: a status below 300. */
  readonly error: string;
  /** Milliseconds that the server asks for by Retry-After. */
  readonly retryAfterMs?: number;
}

/** Bytes of the answer's body that are read; it is not kept. */
const MAX_ANSWER_BYTES = 65_536;
const MAX_HEADER_BYTES = 16_384;

/** A refused address. */
class AddressError extends Error {
  override readonly name = 'AddressError';
}

/**
 * Posts the body. The address is checked at the connection, after the name is resolved; redirects are not followed. Never
 * rejects.
 */
export async function send(outgoing: Outgoing, addresses: Addresses): Promise<Attempt> {
  try {
    const response = await exchange(new URL(outgoing.url), outgoing, addresses);
    const status = response.statusCode ?? 0;
    const retryAfterMs = retryAfter(response.headers['retry-after']);
    await drained(response);
    return { status, error: errorOf(status), ...(retryAfterMs !== undefined && { retryAfterMs }) };
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    return { error: message === '' ? (code ?? 'failed') : message };
  }
}

function errorOf(status: number): string {
  if (status >= 200 && status < 300) return '';
  return status >= 300 && status < 400 ? 'redirects are not followed' : `the server answered ${status}`;
}

async function exchange(url: URL, { headers, body, signal }: Outgoing, addresses: Addresses): Promise<IncomingMessage> {
  const { protocol } = url;
  const check = (address: string, shown?: string): void => {
    const problem = addressProblem(address, protocol, addresses, shown);
    if (problem !== undefined) throw new AddressError(problem);
  };
  // An address needs no lookup, which would check it.
  const literal = addressOf(url);
  if (literal !== undefined) check(literal);
  signal.throwIfAborted();
  const { promise, resolve: answered, reject } = Promise.withResolvers<IncomingMessage>();
  const post = protocol === 'https:' ? httpsRequest : httpRequest;
  const request = post(url, {
    method: 'POST',
    headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    signal,
    lookup: lookupWith(check),
    // A separate connection: an idle one might be closed by the server at the moment of its use.
    agent: false,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  request.on('response', answered);
  request.on('error', reject);
  request.end(body);
  return await promise;
}

/** Resolves a name; refuses it when any of its addresses is refused. @param check throws for a refused address */
function lookupWith(check: (address: string, hostname: string) => void): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, []);
      try {
        for (const { address } of found) check(address, hostname);
      } catch (refusal) {
        return callback(refusal as Error, []);
      }
      const [first] = found;
      if (options.all === true) callback(null, found);
      else callback(null, first?.address ?? '', first?.family);
    });
  };
}

/** Reads a short body, so that the server can finish its answer. */
async function drained(response: IncomingMessage): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) break;
    }
  } catch {
    // The status counts.
  } finally {
    response.destroy();
  }
}

/** RFC 9110 section 10.2.3: seconds, or a date. */
function retryAfter(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,7}$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
