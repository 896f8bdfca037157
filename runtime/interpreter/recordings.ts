import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { ScenarioError } from './errors.ts';
import type { RecordingStore } from './ports/recording.ts';

/** Recordings of scenarios as files, a folder for each domain. */
export class FileRecordings implements RecordingStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = path.resolve(folder);
  }

  async create(domain: string, name: string): Promise<string> {
    const file = this.#file(domain, name);
    if (file === undefined) throw new ScenarioError('no_such_recording', `"${name}" cannot be the name of a recording`);
    await mkdir(path.dirname(file), { recursive: true });
    return file;
  }

  find(domain: string, name: string): string | undefined {
    const file = this.#file(domain, name);
    return file !== undefined && existsSync(file) ? file : undefined;
  }

  /** Names are made by this node; one that an author made up must not lead elsewhere. */
  #file(domain: string, name: string): string | undefined {
    if (!/^[A-Za-z0-9_-]{1,100}\.wav$/.test(name) || !/^[A-Za-z0-9.-]{1,253}$/.test(domain)) return undefined;
    return domain.includes('..') ? undefined : path.join(this.#folder, domain.toLowerCase(), name);
  }
}
