/** Files by the hash of their content: what has the same bytes is stored once, and no name leads anywhere. */
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

/** The store did not take or give a file. */
export class FileStoreError extends Error {
  override readonly name: string = 'FileStoreError';
}

/** The store lacks a file that it, or the store of another node, once took. */
export class FileMissingError extends FileStoreError {
  override readonly name: string = 'FileMissingError';

  /** @param link where the file should be */
  constructor(link: string) {
    super(`The file store of this node lacks ${link}. Give all nodes one store (RINGMASTER_FILES), or copy the file.`);
  }
}

/** Which store it is. */
export interface StorePlace {
  /** The same for all nodes that share it, and for no other. */
  readonly id: string;
  /** For people, without secrets. */
  readonly location: string;
}

/** Content that arrived and is not in the store yet: keep it or discard it. */
export interface ReceivedBlob {
  /** `sha256;<HEX>` */
  readonly hasha: string;
  /** Bytes. */
  readonly size: number;
  /** Of the temporary file. */
  readonly path: string;
}

/** Bytes from `start` to `end`, both included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface FileStore {
  /**
   * Writes content to a temporary file, never more than `limit` bytes of it.
   *
   * @throws BlobTooLargeError as soon as more arrives; nothing is left behind
   */
  receive(content: AsyncIterable<Uint8Array>, limit: number): Promise<ReceivedBlob>;
  /** Makes received content readable under its hash. @throws FileStoreError */
  keep(received: ReceivedBlob): Promise<void>;
  discard(received: ReceivedBlob): Promise<void>;
  /** The content, open; undefined when it is not there. @throws FileStoreError */
  read(hasha: string, range?: ByteRange): Promise<Readable | undefined>;
  /** Nothing happens when it is not there. @throws FileStoreError */
  remove(hasha: string): Promise<void>;
  /** Removes what began to arrive before this time and never ended: the node died over it. */
  tidy(before: Date): Promise<void>;
  /** Where a file is, for people and metadata: `fs://...`. */
  link(hasha: string): string;
  /** @throws FileStoreError */
  place(): Promise<StorePlace>;
}

const HASHA = /^sha256;([0-9A-F]{64})$/;

/** The digits of `sha256;<HEX>`. @throws TypeError for anything else */
export function hexOf(hasha: string): string {
  const hex = HASHA.exec(hasha)?.[1];
  if (hex === undefined) throw new TypeError(`\`${hasha}\` is no hash of this store.`);
  return hex;
}
