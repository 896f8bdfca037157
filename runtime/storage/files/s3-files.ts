/** A file store in a bucket of an S3-compatible service. Requests are signed (AWS Signature Version 4) by aws4fetch. */
import { openAsBlob } from 'node:fs';
import { Readable } from 'node:stream';
import { AwsV4Signer } from 'aws4fetch';
import { type ByteRange, type FileStore, FileStoreError, hexOf, type ReceivedBlob } from './file-store.ts';
import { FolderFiles } from './folder-files.ts';

export interface S3Location {
  /** `https://s3.example.com/bucket/prefix`, without a slash at the end. */
  readonly url: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

/** Milliseconds until the service must have begun to answer. */
const LIMIT_MS = 60_000;
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

export class S3Files implements FileStore {
  readonly #location: S3Location;
  /** What arrives is hashed here first: the hash is the name. */
  readonly #incoming: FolderFiles;

  /** @param folder for content on its way */
  constructor(location: S3Location, folder: string) {
    this.#location = location;
    this.#incoming = new FolderFiles(folder);
  }

  receive(content: AsyncIterable<Uint8Array>, limit: number): Promise<ReceivedBlob> {
    return this.#incoming.receive(content, limit);
  }

  async keep(received: ReceivedBlob): Promise<void> {
    const { hasha, path } = received;
    // A blob of a file is read as it is sent, and its length is known: the service takes no chunked body.
    const body = await openAsBlob(path);
    const response = await this.#send('PUT', hasha, { 'x-amz-content-sha256': hexOf(hasha).toLowerCase() }, body);
    await finish(response);
    await this.#incoming.discard(received);
  }

  discard(received: ReceivedBlob): Promise<void> {
    return this.#incoming.discard(received);
  }

  async read(hasha: string, range?: ByteRange): Promise<Readable | undefined> {
    const headers = range === undefined ? {} : { range: `bytes=${range.start}-${range.end}` };
    const response = await this.#send('GET', hasha, headers);
    if (response.status === 404) {
      await response.body?.cancel();
      return undefined;
    }
    if (!response.ok || response.body === null) throw await refused(response);
    if (range !== undefined && response.status !== 206) throw await refused(response);
    return Readable.fromWeb(response.body);
  }

  async remove(hasha: string): Promise<void> {
    const response = await this.#send('DELETE', hasha, {});
    if (response.status !== 404) await finish(response);
  }

  tidy(before: Date): Promise<void> {
    return this.#incoming.tidy(before);
  }

  link(hasha: string): string {
    const { host, pathname } = new URL(this.#urlOf(hasha));
    return `s3://${host}${pathname}`;
  }

  #urlOf(hasha: string): string {
    const hex = hexOf(hasha);
    return `${this.#location.url}/${hex.slice(0, 2)}/${hex}`;
  }

  async #send(
    method: string,
    hasha: string,
    headers: Readonly<Record<string, string>>,
    body?: Blob,
  ): Promise<Response> {
    const { accessKeyId, secretAccessKey, region } = this.#location;
    const signed = await new AwsV4Signer({
      method,
      url: this.#urlOf(hasha),
      headers: { 'x-amz-content-sha256': EMPTY, ...headers },
      accessKeyId,
      secretAccessKey,
      region,
      service: 's3',
    }).sign();
    try {
      const signal = AbortSignal.timeout(LIMIT_MS);
      return await fetch(signed.url, { method, headers: signed.headers, signal, ...(body !== undefined && { body }) });
    } catch (error) {
      throw new FileStoreError(`The file store at ${signed.url.host} does not answer. Check RINGMASTER_FILES.`, {
        cause: error,
      });
    }
  }
}

async function finish(response: Response): Promise<void> {
  if (!response.ok) throw await refused(response);
  await response.body?.cancel();
}

/** What the service says, in as few words as a log can bear. */
async function refused(response: Response): Promise<FileStoreError> {
  const text = (await response.text()).slice(0, 500);
  return new FileStoreError(`The file store answered ${response.status}: ${text}`);
}
