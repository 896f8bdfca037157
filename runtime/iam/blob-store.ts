/** Files by the hash of their content: what has the same bytes is stored once, and no name leads out of the folder. */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';

/** More came than may be stored. */
export class BlobTooLargeError extends Error {
  override readonly name = 'BlobTooLargeError';
  /** Bytes. */
  readonly limit: number;

  constructor(limit: number) {
    super(`The content exceeds ${limit} bytes. Send less.`);
    this.limit = limit;
  }
}

/** Content that arrived and is not in the store yet: keep it or discard it. */
export interface ReceivedBlob {
  /** `sha256;<HEX>` */
  readonly hasha: string;
  /** Bytes. */
  readonly size: number;
  readonly path: string;
}

const HASHA = /^sha256;([0-9A-F]{64})$/;

export class BlobStore {
  readonly #folder: string;

  /** @param folder is made when something is stored */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Writes content to a temporary file, never more than `limit` bytes of it.
   *
   * @throws BlobTooLargeError as soon as more arrives; nothing is left behind
   */
  async receive(content: AsyncIterable<Uint8Array>, limit: number): Promise<ReceivedBlob> {
    const folder = join(this.#folder, 'incoming');
    await mkdir(folder, { recursive: true });
    const path = join(folder, randomUUID());
    const file = await open(path, 'wx');
    try {
      const received = await write(file, content, limit);
      await file.sync();
      return { ...received, path };
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    } finally {
      await file.close();
    }
  }

  /** Makes received content readable under its hash. */
  async keep({ hasha, path }: ReceivedBlob): Promise<void> {
    const target = this.#pathOf(hasha);
    await mkdir(dirname(target), { recursive: true });
    await rename(path, target);
  }

  async discard({ path }: ReceivedBlob): Promise<void> {
    await rm(path, { force: true });
  }

  /** The content, open; undefined when it is not there. */
  async read(hasha: string): Promise<Readable | undefined> {
    const path = this.#pathOf(hasha);
    const stream = createReadStream(path);
    return await new Promise((resolve, reject) => {
      stream.once('open', () => resolve(stream));
      stream.once('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') resolve(undefined);
        else reject(error);
      });
    });
  }

  async remove(hasha: string): Promise<void> {
    await rm(this.#pathOf(hasha), { force: true });
  }

  #pathOf(hasha: string): string {
    const hex = HASHA.exec(hasha)?.[1];
    if (hex === undefined) throw new TypeError(`\`${hasha}\` is no hash of this store.`);
    return join(this.#folder, hex.slice(0, 2), hex);
  }
}

async function write(
  file: FileHandle,
  content: AsyncIterable<Uint8Array>,
  limit: number,
): Promise<{ hasha: string; size: number }> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of content) {
    size += chunk.length;
    if (size > limit) throw new BlobTooLargeError(limit);
    hash.update(chunk);
    await file.writeFile(chunk);
  }
  return { hasha: `sha256;${hash.digest('hex').toUpperCase()}`, size };
}
