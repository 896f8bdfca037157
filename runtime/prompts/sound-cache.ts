/** A folder of WAV files that can be made again: bounded in size and number, the least recently used ones go first. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

export interface SoundCacheLimits {
  readonly maxBytes: number;
  readonly maxFiles: number;
}

/** Files that are not whole yet. */
const WORK = 'work';
const ENDING = '.wav';

export class SoundCache {
  readonly #folder: string;
  readonly #limits: SoundCacheLimits;
  /** Bytes by key, the least recently used first. */
  readonly #files = new Map<string, number>();
  #bytes = 0;

  private constructor(folder: string, limits: SoundCacheLimits) {
    this.#folder = folder;
    this.#limits = limits;
  }

  /** Opens the folder with the files that an earlier node left. */
  static async open(folder: string, limits: SoundCacheLimits): Promise<SoundCache> {
    const cache = new SoundCache(folder, limits);
    await rm(join(folder, WORK), { recursive: true, force: true });
    await mkdir(join(folder, WORK), { recursive: true });
    const names = (await readdir(folder)).filter((name) => name.endsWith(ENDING));
    const found = await Promise.all(names.map(async (name) => ({ name, ...(await sizeOf(join(folder, name))) })));
    for (const { name, size, mtimeMs } of found.toSorted((a, b) => a.mtimeMs - b.mtimeMs))
      if (mtimeMs > 0) cache.#note(name.slice(0, -ENDING.length), size);
    await cache.#shrink();
    return cache;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get count(): number {
    return this.#files.size;
  }

  /** The path of a kept file; undefined without one. */
  find(key: string): string | undefined {
    const size = this.#files.get(key);
    if (size === undefined) return undefined;
    const path = this.#pathOf(key);
    this.#forget(key);
    if (!existsSync(path)) return undefined;
    this.#note(key, size);
    return path;
  }

  /** A path for a new file, which `keep` or `discard` takes. */
  work(): string {
    return join(this.#folder, WORK, randomUUID());
  }

  /** Keeps a file, in place of the one of this key. @returns its path */
  async keep(key: string, work: string): Promise<string> {
    const { size } = await stat(work);
    const path = this.#pathOf(key);
    await rename(work, path);
    this.#forget(key);
    this.#note(key, size);
    await this.#shrink(key);
    return path;
  }

  async discard(work: string): Promise<void> {
    await rm(work, { force: true });
  }

  /** @param kept is not removed: it is played next */
  async #shrink(kept?: string): Promise<void> {
    const { maxBytes, maxFiles } = this.#limits;
    for (const key of this.#files.keys()) {
      if (this.#bytes <= maxBytes && this.#files.size <= maxFiles) return;
      if (key === kept) continue;
      this.#forget(key);
      await rm(this.#pathOf(key), { force: true });
    }
  }

  #note(key: string, bytes: number): void {
    this.#files.set(key, bytes);
    this.#bytes += bytes;
  }

  #forget(key: string): void {
    this.#bytes -= this.#files.get(key) ?? 0;
    this.#files.delete(key);
  }

  #pathOf(key: string): string {
    return join(this.#folder, key + ENDING);
  }
}

/** Zero for a file that is gone. */
async function sizeOf(path: string): Promise<{ readonly size: number; readonly mtimeMs: number }> {
  return stat(path).catch(() => ({ size: 0, mtimeMs: 0 }));
}
