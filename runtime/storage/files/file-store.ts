/** The file store's interface. Files are named by the hash of their content: equal content is stored once. */
import type { Readable } from 'node:stream';

/** Content larger than permitted. */
export class BlobTooLargeError extends Error {
  override readonly name = 'BlobTooLargeError';
  /** Bytes. */
  readonly limit: number;

  constructor(limit: number) {
    super(`The content exceeds ${limit} bytes. Send less.`);
    this.limit = limit;
  }
}

/** The store failed to write or read a file. */
export class FileStoreError extends Error {
  override readonly name: string = 'FileStoreError';
}

/** A file that this store, or another node's store, once took is missing. */
export class FileMissingError extends FileStoreError {
  override readonly name: string = 'FileMissingError';

  /** @param link expected location of the file */
  constructor(link: string) {
    super(`The file store of this node lacks ${link}. Give all nodes one store (RINGMASTER_FILES), or copy the file.`);
  }
}

/** Identity of a store. */
export interface StorePlace {
  /** Equal for all nodes that share the store, and for no other store. */
  readonly id: string;
  /** Location for people, without secrets. */
  readonly location: string;
}

/** Received content that is not in the store yet: keep it or discard it. */
export interface ReceivedBlob {
  /** `sha256;<HEX>` */
  readonly hasha: string;
  /** Bytes. */
  readonly size: number;
  /** Path of the temporary file. */
  readonly path: string;
}

/** Bytes from `start` to `end`, both included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface FileStore {
  /**
   * Writes content to a temporary file of at most `limit` bytes.
   *
   * @throws BlobTooLargeError as soon as the limit is exceeded; the temporary file is removed
   */
  receive(content: AsyncIterable<Uint8Array>, limit: number): Promise<ReceivedBlob>;
  /** Makes received content readable under its hash. @throws FileStoreError */
  keep(received: ReceivedBlob): Promise<void>;
  discard(received: ReceivedBlob): Promise<void>;
  /** The content as a stream; undefined when missing. @throws FileStoreError */
  read(hasha: string, range?: ByteRange): Promise<Readable | undefined>;
  /** A missing file is ignored. @throws FileStoreError */
  remove(hasha: string): Promise<void>;
  /** Removes unfinished uploads begun before this time: their node ended meanwhile. */
  tidy(before: Date): Promise<void>;
  /** Location of a file, for people and metadata: `fs://...`. */
  link(hasha: string): string;
  /** @throws FileStoreError */
  place(): Promise<StorePlace>;
}

const HASHA = /^sha256;([0-9A-F]{64})$/;

/** The digits of `sha256;<HEX>`. @throws TypeError for anything else */
export function hexOf(hasha: string): string {
  const hex = HASHA.exec(hasha)?.[1];
  if (hex === undefined) throw new TypeError(`\`${hasha}\` is not a hash of the form sha256;HEX.`);
  return hex;
}
