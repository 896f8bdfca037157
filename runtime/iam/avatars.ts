/** Avatars of users (specification, "User avatar"): metadata in `opts.avatar_info`, content in the file store. */
import { extname } from 'node:path';
import type { Readable } from 'node:stream';
import type { Accounts, AvatarInfo } from './accounts.ts';
import { FileMissingError, type FileStore } from '../storage/index.ts';

/** Largest avatar in bytes (specification, "Limits"). */
export const MAX_AVATAR_BYTES = 204_800;

/** Content type by file extension; other types are not displayed by browsers. */
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
  /** Undefined when the user has none. @throws FileMissingError, FileStoreError */
  read(userId: string): Promise<Avatar | undefined>;
  /**
   * Stores an avatar and replaces the former one.
   *
   * @param name original file name
   * @throws BlobTooLargeError during the upload, FileStoreError
   */
  write(userId: string, name: string, content: AsyncIterable<Uint8Array>): Promise<void>;
  /** False without an avatar. */
  remove(userId: string): Promise<boolean>;
}

export interface AvatarFiles {
  /** The file store shared with attachments. */
  readonly files: FileStore;
  /** Notes files for removal unless they are used again. */
  readonly suspect: (hashes: readonly string[]) => Promise<void>;
  /** Folder of avatars in former releases, on this node only. */
  readonly former: FileStore;
}

export class StoredAvatars implements Avatars {
  readonly #accounts: Accounts;
  readonly #options: AvatarFiles;
  readonly #now: () => number;
  /** Changes run one after another: each must see the avatar left by the one before. */
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor(accounts: Accounts, files: AvatarFiles, now: () => number = Date.now) {
    this.#accounts = accounts;
    this.#options = files;
    this.#now = now;
  }

  /**
   * Moves avatars of this node's former folder to the shared file store.
   *
   * @returns the number of moved avatars
   * @throws FileStoreError; remaining avatars are read from the folder
   */
  async moveFormer(): Promise<number> {
    const { files, former } = this.#options;
    let moved = 0;
    for (const hasha of await this.#accounts.avatars()) {
      const content = await former.read(hasha);
      if (content === undefined) continue;
      await files.keep(await files.receive(content, MAX_AVATAR_BYTES));
      await former.remove(hasha);
      moved += 1;
    }
    return moved;
  }

  async read(userId: string): Promise<Avatar | undefined> {
    const info = await this.#infoOf(userId);
    if (info === undefined) return undefined;
    const { files, former } = this.#options;
    const content = (await files.read(info.hasha)) ?? (await former.read(info.hasha));
    if (content === undefined) throw new FileMissingError(files.link(info.hasha));
    return { info, content };
  }

  async write(userId: string, name: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const { files, suspect } = this.#options;
    const received = await files.receive(content, MAX_AVATAR_BYTES);
    await this.#inTurn(async () => {
      const before = await this.#infoOf(userId);
      // In case the node stops before a user owns it.
      await suspect([received.hasha]);
      await files.keep(received);
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
    const { suspect, former } = this.#options;
    await suspect([hasha]);
    if (!(await this.#accounts.isAvatarInUse(hasha))) await former.remove(hasha);
  }

  async #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const changed = this.#lastChange.then(change);
    this.#lastChange = changed.catch(() => undefined);
    return await changed;
  }
}
