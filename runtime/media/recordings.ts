/** Files of recorded messages. */
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { domainKey } from '../domain-name/index.ts';

/** Valid names of recordings and domains as files; others could leave the folder. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;

/** An invalid recording name. */
export class RecordingNameError extends Error {
  override readonly name = 'RecordingNameError';
  constructor(found: string) {
    super(`recording name ${JSON.stringify(found)} is invalid: use letters, digits, dot, dash and underscore`);
  }
}

/** Recordings as WAV files, one folder per domain. */
export class RecordingFolder {
  readonly #folder: string;

  /** @param folder absolute */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * The file for a new recording; creates its folder.
   * @throws RecordingNameError
   */
  async create(domain: string, name: string): Promise<string> {
    const file = this.#file(domain, name);
    if (file === undefined) throw new RecordingNameError(name);
    await mkdir(join(this.#folder, domainKey(domain)), { recursive: true });
    return file;
  }

  /** The file of a recording in this domain; undefined when missing. */
  find(domain: string, name: string): string | undefined {
    const file = this.#file(domain, name);
    return file !== undefined && existsSync(file) ? file : undefined;
  }

  /** @returns false for an unknown name in this domain */
  async remove(domain: string, name: string): Promise<boolean> {
    const file = this.find(domain, name);
    if (file !== undefined) await rm(file, { force: true });
    return file !== undefined;
  }

  #file(domain: string, name: string): string | undefined {
    const fits = NAME.test(name) && NAME.test(domain) && !name.includes('..') && !domain.includes('..');
    return fits ? join(this.#folder, domainKey(domain), name) : undefined;
  }
}
