import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** What a recording or a domain may be called in the file system; anything else could lead out of the folder. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;

/** A name that is no name of a recording. */
export class RecordingNameError extends Error {
  override readonly name = 'RecordingNameError';
  constructor(found: string) {
    super(`recording name ${JSON.stringify(found)}: letters, digits, dot, dash and underscore are allowed`);
  }
}

/** Recordings as WAV files: a folder for each domain. */
export class RecordingFolder {
  readonly #folder: string;

  /** @param folder absolute */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * The file of a new recording; its folder exists afterwards.
   * @throws RecordingNameError
   */
  async create(domain: string, name: string): Promise<string> {
    const file = this.#file(domain, name);
    if (file === undefined) throw new RecordingNameError(name);
    await mkdir(join(this.#folder, domain.toLowerCase()), { recursive: true });
    return file;
  }

  /** The file of a recording of this domain; undefined when there is none. */
  find(domain: string, name: string): string | undefined {
    const file = this.#file(domain, name);
    return file !== undefined && existsSync(file) ? file : undefined;
  }

  /** @returns false when there is none of this name in this domain */
  async remove(domain: string, name: string): Promise<boolean> {
    const file = this.find(domain, name);
    if (file !== undefined) await rm(file, { force: true });
    return file !== undefined;
  }

  #file(domain: string, name: string): string | undefined {
    const fits = NAME.test(name) && NAME.test(domain) && !name.includes('..') && !domain.includes('..');
    return fits ? join(this.#folder, domain.toLowerCase(), name) : undefined;
  }
}
