/** Avatars of users (specification, "User avatar"): meta-information in `opts.avatar_info`, content in the file store. */
import { extname } from 'node:path';
import type { Readable } from 'node:stream';
import type { Accounts, AvatarInfo } from './accounts.ts';
import { FileMissingError, type FileStore } from '../storage/index.ts';

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
  /** Undefined when the user has none. @throws FileMissingError, FileStoreError */
  read(userId: string): Promise<Avatar | undefined>;
  /**
   * Stores an avatar and forgets the one before.
   *
   * @param name original file name
   * @throws BlobTooLargeError while it arrives, FileStoreError
   */
  write(userId: string, name: string, content: AsyncIterable<Uint8Array>): Promise<void>;
  /** False when there was none. */
  remove(userId: string): Promise<boolean>;
}

export interface AvatarFiles {
  /** Where attachments are, too. */
  readonly files: FileStore;
  /** Has files removed later that nothing has by then. */
  readonly suspect: (hashes: readonly string[]) => Promise<void>;
  /** Where former releases kept avatars: a folder of this node alone. */
  readonly former: FileStore;
}

export class StoredAvatars implements Avatars {
  readonly #accounts: Accounts;
  readonly #options: AvatarFiles;
  readonly #now: () => number;
  /** Changes one after the other: the one before is not the same for two of them. */
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor(accounts: Accounts, files: AvatarFiles, now: () => number = Date.now) {
    this.#accounts = accounts;
    this.#options = files;
    this.#now = now;
  }

  /**
   * Moves the avatars that this node has in the former folder to the file store, where every node finds them.
   *
   * @returns how many
   * @throws FileStoreError; those that are not moved are read where they are
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
      // Should the node die before a user has it.
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
