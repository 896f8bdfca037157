/** A bucket of an S3-compatible service. Requests are signed (AWS Signature Version 4) by aws4fetch. */
import { openAsBlob } from 'node:fs';
import { Readable } from 'node:stream';
import { AwsV4Signer } from 'aws4fetch';
import { type ByteRange, FileStoreError } from './file-store.ts';

export interface S3Location {
  /** `https://s3.example.com/bucket/prefix`, without a slash at the end. */
  readonly url: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

/** Milliseconds until the service must have begun to answer. */
const LIMIT_MS = 60_000;
/** Assumed throughput of a slow line, bytes per millisecond. */
const SLOW = 100;
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/**
 * Reads `s3://KEY:SECRET@host[:port]/bucket[/prefix]?region=...&tls=false`.
 * @throws TypeError for a URL of another form
 */
export function s3Location(url: string): S3Location {
  const { protocol, username, password, host, pathname, searchParams } = new URL(url);
  const path = pathname.replace(/\/+$/, '');
  if (protocol !== 's3:' || username === '' || password === '' || path === '') {
    throw new TypeError('The URL of a file store has the form s3://KEY:SECRET@host/bucket.');
  }
  const scheme = searchParams.get('tls') === 'false' ? 'http' : 'https';
  return {
    url: `${scheme}://${host}${path}`,
    accessKeyId: decodeURIComponent(username),
    secretAccessKey: decodeURIComponent(password),
    region: searchParams.get('region') ?? 'us-east-1',
  };
}

/**
 * Objects by key, a path below the prefix. All methods throw FileStoreError when the service refuses or does not
 * answer.
 */
export class S3Bucket {
  readonly #location: S3Location;
  readonly #setting: string;

  /** @param setting name of the setting to check when the service does not answer */
  constructor(location: S3Location, setting: string) {
    this.#location = location;
    this.#setting = setting;
  }

  /**
   * Stores a file of this machine.
   * @param sha256 of its content, hexadecimal
   */
  async put(key: string, file: string, sha256: string): Promise<void> {
    // The blob of a file is read while it is sent and has a known length: the service takes no chunked body.
    const body = await openAsBlob(file);
    await finish(await this.#send('PUT', key, { 'x-amz-content-sha256': sha256.toLowerCase() }, body));
  }

  /** The content; undefined when missing. */
  async get(key: string, range?: ByteRange): Promise<Readable | undefined> {
    const response = await this.#send(
      'GET',
      key,
      range === undefined ? {} : { range: `bytes=${range.start}-${range.end}` },
    );
    if (response.status === 404) {
      await response.body?.cancel();
      return undefined;
    }
    if (!response.ok || response.body === null) throw await refused(response);
    if (range !== undefined && response.status !== 206) throw await refused(response);
    return Readable.fromWeb(response.body);
  }

  /** Size of an object in bytes; undefined when missing. */
  async size(key: string): Promise<number | undefined> {
    const response = await this.#send('HEAD', key, {});
    if (response.status === 404) return undefined;
    if (!response.ok) throw await refused(response);
    return Number(response.headers.get('content-length'));
  }

  /** A missing object is ignored. */
  async remove(key: string): Promise<void> {
    const response = await this.#send('DELETE', key, {});
    if (response.status !== 404) await finish(response);
  }

  /** Location of an object, for people and metadata: `s3://host/bucket/...`. */
  link(key: string): string {
    return this.#base + key;
  }

  /** The key in a link to this bucket; undefined for other links. */
  keyOf(link: string): string | undefined {
    return link.startsWith(this.#base) ? link.slice(this.#base.length) : undefined;
  }

  get #base(): string {
    const { host, pathname } = new URL(this.#location.url);
    return `s3://${host}${pathname}/`;
  }

  async #send(method: string, key: string, headers: Readonly<Record<string, string>>, body?: Blob): Promise<Response> {
    const { url, accessKeyId, secretAccessKey, region } = this.#location;
    const signed = await new AwsV4Signer({
      method,
      url: `${url}/${key}`,
      headers: { 'x-amz-content-sha256': EMPTY, ...headers },
      accessKeyId,
      secretAccessKey,
      region,
      service: 's3',
    }).sign();
    try {
      const signal = AbortSignal.timeout(LIMIT_MS + Math.ceil((body?.size ?? 0) / SLOW));
      return await fetch(signed.url, { method, headers: signed.headers, signal, ...(body !== undefined && { body }) });
    } catch (error) {
      throw new FileStoreError(`The file store at ${signed.url.host} does not answer. Check ${this.#setting}.`, {
        cause: error,
      });
    }
  }
}

async function finish(response: Response): Promise<void> {
  if (!response.ok) throw await refused(response);
  await response.body?.cancel();
}

/** The service's error text, shortened for logs. */
async function refused(response: Response): Promise<FileStoreError> {
  const text = (await response.text()).slice(0, 500);
  return new FileStoreError(`The file store answered ${response.status}: ${text}`);
}
