/** A file store in a bucket of an S3-compatible service. */
import type { Readable } from 'node:stream';
import { type ByteRange, type FileStore, hexOf, type ReceivedBlob, type StorePlace } from './file-store.ts';
import { FolderFiles } from './folder-files.ts';
import type { S3Bucket } from './s3-bucket.ts';

export class S3Files implements FileStore {
  readonly #bucket: S3Bucket;
  /** Content is hashed here before its upload: the hash is its name. */
  readonly #incoming: FolderFiles;

  /** @param folder of unfinished uploads */
  constructor(bucket: S3Bucket, folder: string) {
    this.#bucket = bucket;
    this.#incoming = new FolderFiles(folder);
  }

  receive(content: AsyncIterable<Uint8Array>, limit: number): Promise<ReceivedBlob> {
    return this.#incoming.receive(content, limit);
  }

  async keep(received: ReceivedBlob): Promise<void> {
    const { hasha, path } = received;
    await this.#bucket.put(keyOf(hasha), path, hexOf(hasha));
    await this.#incoming.discard(received);
  }

  discard(received: ReceivedBlob): Promise<void> {
    return this.#incoming.discard(received);
  }

  async read(hasha: string, range?: ByteRange): Promise<Readable | undefined> {
    return await this.#bucket.get(keyOf(hasha), range);
  }

  async remove(hasha: string): Promise<void> {
    await this.#bucket.remove(keyOf(hasha));
  }

  tidy(before: Date): Promise<void> {
    return this.#incoming.tidy(before);
  }

  link(hasha: string): string {
    return this.#bucket.link(keyOf(hasha));
  }

  async place(): Promise<StorePlace> {
    const location = this.#bucket.link('');
    return { id: location, location };
  }
}

function keyOf(hasha: string): string {
  const hex = hexOf(hasha);
  return `${hex.slice(0, 2)}/${hex}`;
}
