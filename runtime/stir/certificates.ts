/** Fetches the certificates of signers, within bounds, and keeps them for a while. */
import type { X509Certificate } from 'node:crypto';
import { lookup as resolve } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { CertificateError, readCertificates } from './chain.ts';

/** Milliseconds that a call waits for a certificate. */
const PATIENCE_MS = 2_000;
const MAX_BYTES = 65_536;
/** Most URLs that are remembered, and most requests at a time. */
const MAX_KNOWN = 500;
const MAX_REQUESTS = 20;
/** Milliseconds that a certificate is kept when its server says nothing, at least and at most; and a failure. */
const KEPT_MS = 3_600_000;
const MIN_KEPT_MS = 60_000;
const MAX_KEPT_MS = 86_400_000;
const FAILURE_MS = 30_000;

interface Known {
  readonly until: number;
  readonly chain: Promise<readonly X509Certificate[]>;
}

/** A certificate that could not be fetched; the message is the reason. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}

export class Certificates {
  readonly #mayReach: (address: string) => boolean;
  /** By URL; the one asked for last is at the end. */
  readonly #known = new Map<string, Known>();
  #requests = 0;

  /** @param mayReach whether requests may go to this address: who calls chooses the URL */
  constructor(mayReach: (address: string) => boolean) {
    this.#mayReach = mayReach;
  }

  /**
   * The certificates at a URL, the signer's first.
   * @throws UnreachableError, CertificateError
   */
  async chain(url: string): Promise<readonly X509Certificate[]> {
    const known = this.#known.get(url);
    if (known !== undefined && known.until > Date.now()) {
      this.#remember(url, known);
      return known.chain;
    }
    const fetching = this.#fetch(url);
    const chain = fetching.then((fetched) => fetched.chain);
    chain.catch(() => undefined);
    this.#remember(url, { until: Date.now() + FAILURE_MS, chain });
    const { keptMs } = await fetching;
    this.#remember(url, { until: Date.now() + keptMs, chain });
    return chain;
  }

  #remember(url: string, known: Known): void {
    this.#known.delete(url);
    this.#known.set(url, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
  }

  async #fetch(url: string): Promise<{ readonly chain: readonly X509Certificate[]; readonly keptMs: number }> {
    if (!URL.canParse(url) || new URL(url).protocol !== 'https:') throw new CertificateError('x5u is no https URL');
    if (this.#requests >= MAX_REQUESTS) throw new UnreachableError('too many certificates are being fetched');
    this.#requests += 1;
    try {
      const signal = AbortSignal.timeout(PATIENCE_MS);
      const response = await this.#get(new URL(url), signal);
      const status = response.statusCode ?? 0;
      if (status !== 200) {
        response.destroy();
        throw new UnreachableError(`the server of the certificate answered ${status}`);
      }
      const pem = await bodyOf(response);
      return { chain: readCertificates(pem), keptMs: lifetimeMs(response.headers['cache-control']) };
    } catch (error) {
      if (error instanceof UnreachableError || error instanceof CertificateError) throw error;
      throw new UnreachableError(`the certificate cannot be fetched: ${(error as Error).message}`, { cause: error });
    } finally {
      this.#requests -= 1;
    }
  }

  #get(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
    const literal = url.hostname.replace(/^\[(.*)\]$/, '$1');
    if (isIP(literal) !== 0 && !this.#mayReach(literal)) throw new UnreachableError(`${literal} is not public`);
    const { promise, resolve: answered, reject } = Promise.withResolvers<IncomingMessage>();
    const get = request(url, { method: 'GET', signal, lookup: this.#lookup, agent: false, maxHeaderSize: 16_384 });
    get.on('response', answered);
    get.on('error', reject);
    get.end();
    return promise;
  }

  /** Resolves a name; refuses it when any of its addresses is refused. */
  readonly #lookup: LookupFunction = (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, []);
      if (!found.every(({ address }) => this.#mayReach(address)))
        return callback(new UnreachableError(`${hostname} is not public`), []);
      const [first] = found;
      if (options.all === true) callback(null, found);
      else callback(null, first?.address ?? '', first?.family);
    });
  };
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) {
      response.destroy();
      throw new UnreachableError(`the certificate has more than ${MAX_BYTES} octets`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('latin1');
}

/** RFC 9111 section 5.2.2.1. */
function lifetimeMs(cacheControl: string | undefined): number {
  const seconds = /(?:^|[\s,])max-age\s*=\s*"?(\d{1,9})/i.exec(cacheControl ?? '')?.[1];
  const wished = seconds === undefined ? KEPT_MS : Number(seconds) * 1000;
  return Math.min(Math.max(wished, MIN_KEPT_MS), MAX_KEPT_MS);
}
