/** Avatars of users (specification, "User avatar"): meta-information in `opts.avatar_info`, content in the blob store. */
import { extname } from 'node:path';
import type { Readable } from 'node:stream';
import type { Accounts, AvatarInfo } from './accounts.ts';
import type { FileStore } from '../storage/files/index.ts';

/** Greatest avatar in bytes (specification, "Limits"). */
export const MAX_AVATAR_BYTES = 204_800;

/** Content type by the file's extension; what is not here is not for a browser to show. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.avif': 'image/avif',
  '.bmp': 'image/bmp',
  '.gif': 'image/gif',
  '.ico': 'image/x-icon',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.webp': 'image/webp',
};

export interface Avatar {
  readonly info: AvatarInfo;
  readonly content: Readable;
}

export interface Avatars {
  read(userId: string): Promise<Avatar | undefined>;
  /**
   * Stores an avatar and forgets the one before.
   *
   * @param name original file name
   * @throws BlobTooLargeError while it arrives
   */
  write(userId: string, name: string, content: AsyncIterable<Uint8Array>): Promise<void>;
  /** False when there was none. */
  remove(userId: string): Promise<boolean>;
}

export class StoredAvatars implements Avatars {
  readonly #accounts: Accounts;
  readonly #blobs: FileStore;
  readonly #now: () => number;
  /** Changes one after the other: content that two users share is not removed while one is getting it. */
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor(accounts: Accounts, blobs: FileStore, now: () => number = Date.now) {
    this.#accounts = accounts;
    this.#blobs = blobs;
    this.#now = now;
  }

  async read(userId: string): Promise<Avatar | undefined> {
    const info = await this.#infoOf(userId);
    const content = info === undefined ? undefined : await this.#blobs.read(info.hasha);
    return info === undefined || content === undefined ? undefined : { info, content };
  }

  async write(userId: string, name: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const received = await this.#blobs.receive(content, MAX_AVATAR_BYTES);
    await this.#inTurn(async () => {
      const before = await this.#infoOf(userId);
      await this.#blobs.keep(received);
      await this.#accounts.setAvatar(userId, {
        name,
        size: received.size,
        mtime: new Date(this.#now()).toISOString(),
        hasha: received.hasha,
        content_type: CONTENT_TYPES[extname(name).toLowerCase()] ?? 'application/octet-stream',
      });
      if (before !== undefined) await this.#drop(before.hasha);
    });
  }

  async remove(userId: string): Promise<boolean> {
    return await this.#inTurn(async () => {
      const info = await this.#infoOf(userId);
      if (info === undefined) return false;
      await this.#accounts.setAvatar(userId, false);
      await this.#drop(info.hasha);
      return true;
    });
  }

  async #infoOf(userId: string): Promise<AvatarInfo | undefined> {
    const user = await this.#accounts.user(userId);
    return user === undefined || user.avatar === false ? undefined : user.avatar;
  }

  async #drop(hasha: string): Promise<void> {
    if (!(await this.#accounts.isAvatarInUse(hasha))) await this.#blobs.remove(hasha);
  }

  async #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const changed = this.#lastChange.then(change);
    this.#lastChange = changed.catch(() => undefined);
    return await changed;
  }
}
