/** The store of finished recordings, and its implementation in a folder. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { domainKey } from '../domain-name/index.ts';

/** A recording as stored. */
export interface StoredFile {
  readonly bytes: number;
  /** SHA-256 of the whole file, hexadecimal. */
  readonly sha256: string;
  /** Location; only the store interprets it. */
  readonly reclink: string;
}

/** Facts that determine the path of a finished recording. */
export interface FilingDetails {
  readonly id: string;
  readonly domain: string;
  /** Milliseconds since the epoch. */
  readonly startts: number;
  /** Name of the storage; empty: the node's own. */
  readonly storage: string;
}

/** Content of a stored file. */
export interface StoredContent {
  readonly bytes: number;
  /** The octets between two positions, both included. */
  readonly stream: (from: number, to: number) => Readable;
}

/** A local file held open for reading: `await using`. */
export interface BorrowedFile extends AsyncDisposable {
  readonly path: string;
}

/** Stores finished recordings. */
export interface RecordStore {
  /** The file for the media server to write; its folder exists. */
  spoolFile(id: string): string;
  /** Ids of the recordings in the spool. */
  spooled(): Promise<readonly string[]>;
  /** Future location of a recording. @throws StorageNameError */
  linkOf(details: FilingDetails): string;
  /** The complete file: in the spool, or already in its final place when a killed node had stored it. */
  completeFile(details: FilingDetails): Promise<string>;
  /**
   * Stores a complete file; one already in its final place stays there.
   * @throws StorageNameError, FileStoreError, and errors of the file system: the file then stays in the spool
   */
  keep(file: string, details: FilingDetails): Promise<StoredFile>;
  /** Removes the recording from the spool: it is archived, or never will be. */
  settled(id: string): Promise<void>;
  /** @returns undefined when missing. @throws FileStoreError */
  read(reclink: string): Promise<StoredContent | undefined>;
  /** The recording as a local file; undefined when missing. @throws FileStoreError */
  borrow(reclink: string): Promise<BorrowedFile | undefined>;
  /** A missing file is ignored. @throws FileStoreError */
  remove(reclink: string): Promise<void>;
}

/** An invalid storage name. */
export class StorageNameError extends Error {
  override readonly name = 'StorageNameError';
  constructor(found: string) {
    super(
      `storage ${JSON.stringify(found)} is not a valid name: use letters, digits, "_", "-", and "." except at the front`,
    );
  }
}

const SCHEME = 'fs://';
const OWN_STORAGE = 'main';
const SPOOL = '.spool';
const STORAGE_NAME = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}$/;

/** `<storage>/<domain>/<year>/<month>/<day>/<id>.wav` @throws StorageNameError */
export function recordPath({ id, domain, startts, storage }: FilingDetails): string {
  const name = storage === '' ? OWN_STORAGE : storage;
  if (!STORAGE_NAME.test(name)) throw new StorageNameError(storage);
  const day = new Date(startts).toISOString().slice(0, 10).split('-');
  return [name, domainKey(domain), ...day, `${id}.wav`].join('/');
}

/** Recordings as files: `<storage>/<domain>/<year>/<month>/<day>/<id>.wav` in one folder. */
export class FileStore implements RecordStore {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** @param folder absolute; created if missing */
  static async open(folder: string): Promise<FileStore> {
    await mkdir(join(folder, SPOOL), { recursive: true });
    return new FileStore(folder);
  }

  spoolFile(id: string): string {
    return join(this.#folder, SPOOL, `${id}.wav`);
  }

  async spooled(): Promise<readonly string[]> {
    const names = await readdir(join(this.#folder, SPOOL));
    return names.flatMap((name) => (name.endsWith('.wav') ? [name.slice(0, -'.wav'.length)] : []));
  }

  linkOf(details: FilingDetails): string {
    return SCHEME + recordPath(details);
  }

  async completeFile(details: FilingDetails): Promise<string> {
    return (await this.localFile(this.linkOf(details))) ?? this.spoolFile(details.id);
  }

  async settled(id: string): Promise<void> {
    await rm(this.spoolFile(id), { force: true });
  }

  async borrow(reclink: string): Promise<BorrowedFile | undefined> {
    const path = await this.localFile(reclink);
    return path === undefined ? undefined : { path, [Symbol.asyncDispose]: () => Promise.resolve() };
  }

  async keep(file: string, details: FilingDetails): Promise<StoredFile> {
    const reclink = this.linkOf(details);
    const target = join(this.#folder, reclink.slice(SCHEME.length));
    if (file !== target) {
      await mkdir(dirname(target), { recursive: true });
      await move(file, target);
    }
    const sha256 = await hashOf(target);
    const { size: bytes } = await stat(target);
    return { bytes, sha256, reclink };
  }

  async read(reclink: string): Promise<StoredContent | undefined> {
    const file = await this.localFile(reclink);
    if (file === undefined) return undefined;
    const { size } = await stat(file);
    return { bytes: size, stream: (start, end) => createReadStream(file, { start, end }) };
  }

  /** The file at a link; undefined when missing. */
  async localFile(reclink: string): Promise<string | undefined> {
    if (!reclink.startsWith(SCHEME)) return undefined;
    const file = resolve(this.#folder, reclink.slice(SCHEME.length));
    if (!file.startsWith(this.#folder + sep)) return undefined;
    try {
      return (await stat(file)).isFile() ? file : undefined;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async remove(reclink: string): Promise<void> {
    const file = await this.localFile(reclink);
    if (file !== undefined) await rm(file, { force: true });
  }
}

/** Also across file systems, because a storage may be a mount. */
async function move(file: string, target: string): Promise<void> {
  try {
    await rename(file, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    await copyFile(file, target);
    await rm(file);
  }
  await using kept = await open(target, 'r+');
  await kept.sync();
}

/** SHA-256 of a file, hexadecimal. */
export async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
