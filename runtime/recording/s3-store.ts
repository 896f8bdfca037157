/** Stores recordings in an S3 bucket. */
import { createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { randomUUID } from 'node:crypto';
import type { S3Bucket } from '../storage/index.ts';
import {
  type BorrowedFile,
  type FileStore,
  type FilingDetails,
  hashOf,
  recordPath,
  type RecordStore,
  type StoredContent,
  type StoredFile,
} from './store.ts';

/**
 * Recordings in a bucket of an S3-compatible service. The media server writes into the local spool; a file leaves it
 * once the archive knows that it is in the bucket. Older local recordings are still found.
 */
export class S3RecordStore implements RecordStore {
  readonly #bucket: S3Bucket;
  readonly #local: FileStore;

  constructor(bucket: S3Bucket, local: FileStore) {
    this.#bucket = bucket;
    this.#local = local;
  }

  spoolFile(id: string): string {
    return this.#local.spoolFile(id);
  }

  spooled(): Promise<readonly string[]> {
    return this.#local.spooled();
  }

  linkOf(details: FilingDetails): string {
    return this.#bucket.link(recordPath(details));
  }

  completeFile({ id }: FilingDetails): Promise<string> {
    return Promise.resolve(this.spoolFile(id));
  }

  async keep(file: string, details: FilingDetails): Promise<StoredFile> {
    const key = recordPath(details);
    const sha256 = await hashOf(file);
    const { size: bytes } = await stat(file);
    await this.#bucket.put(key, file, sha256);
    return { bytes, sha256, reclink: this.#bucket.link(key) };
  }

  settled(id: string): Promise<void> {
    return this.#local.settled(id);
  }

  async read(reclink: string): Promise<StoredContent | undefined> {
    const key = this.#bucket.keyOf(reclink);
    if (key === undefined) return this.#local.read(reclink);
    const bytes = await this.#bucket.size(key);
    if (bytes === undefined) return undefined;
    return { bytes, stream: (start, end) => this.#stream(key, { start, end }) };
  }

  async borrow(reclink: string): Promise<BorrowedFile | undefined> {
    const key = this.#bucket.keyOf(reclink);
    if (key === undefined) return this.#local.borrow(reclink);
    const content = await this.#bucket.get(key);
    if (content === undefined) return undefined;
    // Not a recording's name, so that a starting node does not take it for one.
    const path = `${this.spoolFile(randomUUID())}.copy`;
    const giveBack = () => rm(path, { force: true });
    try {
      await pipeline(content, createWriteStream(path));
    } catch (error) {
      await giveBack();
      throw error;
    }
    return { path, [Symbol.asyncDispose]: giveBack };
  }

  async remove(reclink: string): Promise<void> {
    const key = this.#bucket.keyOf(reclink);
    await (key === undefined ? this.#local.remove(reclink) : this.#bucket.remove(key));
  }

  #stream(key: string, range: { readonly start: number; readonly end: number }): Readable {
    const through = new PassThrough();
    const open = async (): Promise<void> => {
      const content = await this.#bucket.get(key, range);
      if (content === undefined) throw new Error('the recording is gone');
      await pipeline(content, through);
    };
    open().catch((error: unknown) => through.destroy(error as Error));
    return through;
  }
}
