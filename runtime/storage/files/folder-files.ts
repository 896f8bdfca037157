/** A file store in a folder of this machine. */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, link, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve as absolute } from 'node:path';
import type { Readable } from 'node:stream';
import {
  BlobTooLargeError,
  type ByteRange,
  type FileStore,
  FileStoreError,
  hexOf,
  type ReceivedBlob,
  type StorePlace,
} from './file-store.ts';

const INCOMING = 'incoming';
/** Holds the store's id, so that nodes recognise a shared folder under different paths. */
const STORE_ID = 'store-id';

export class FolderFiles implements FileStore {
  readonly #folder: string;

  /** @param folder created with the first file */
  constructor(folder: string) {
    this.#folder = folder;
  }

  async receive(content: AsyncIterable<Uint8Array>, limit: number): Promise<ReceivedBlob> {
    const folder = join(this.#folder, INCOMING);
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

  async keep({ hasha, path }: ReceivedBlob): Promise<void> {
    const target = this.#pathOf(hasha);
    await mkdir(dirname(target), { recursive: true });
    await rename(path, target);
  }

  async discard({ path }: ReceivedBlob): Promise<void> {
    await rm(path, { force: true });
  }

  async read(hasha: string, range?: ByteRange): Promise<Readable | undefined> {
    const path = this.#pathOf(hasha);
    const stream = createReadStream(path, range);
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

  async tidy(before: Date): Promise<void> {
    const folder = join(this.#folder, INCOMING);
    await mkdir(folder, { recursive: true });
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      const { mtime } = await stat(path);
      if (mtime < before) await rm(path, { force: true });
    }
  }

  link(hasha: string): string {
    const hex = hexOf(hasha);
    return `fs://${basename(this.#folder)}/${hex.slice(0, 2)}/${hex}`;
  }

  async place(): Promise<StorePlace> {
    const location = `${absolute(this.#folder)} on ${hostname()}`;
    try {
      return { id: await this.#id(), location };
    } catch (error) {
      throw new FileStoreError(`The file store ${location} cannot be used: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }

  async #id(): Promise<string> {
    const path = join(this.#folder, STORE_ID);
    await mkdir(this.#folder, { recursive: true });
    const known = await readFile(path, 'utf8').catch(() => undefined);
    if (known !== undefined) return known;
    const mine = `${path}.${randomUUID()}`;
    await writeFile(mine, randomUUID());
    try {
      // Fails when the file exists: two nodes may start at once.
      await link(mine, path);
    } catch (error) {
      // Some shared folders lack hard links.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await rename(mine, path);
    } finally {
      await rm(mine, { force: true });
    }
    return await readFile(path, 'utf8');
  }

  #pathOf(hasha: string): string {
    const hex = hexOf(hasha);
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
