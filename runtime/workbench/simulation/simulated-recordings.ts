import type { RecordingStore } from '../../runs/index.ts';
import type { Fixtures } from './simulated-model.ts';

/** The recordings of a simulation: its own, and those named in its initial data model. */
export class SimulatedRecordings implements RecordingStore {
  readonly #names: Set<string>;
  readonly #words = new Map<string, string[]>();

  constructor(fixtures: Fixtures = {}) {
    const named = JSON.stringify(fixtures).matchAll(/"recording:([\w.-]+)"/g);
    this.#names = new Set([...named].map(([, name = '']) => name));
  }

  async create(_: string, name: string): Promise<string> {
    this.#names.add(name);
    return fileOf(name);
  }

  find(_: string, name: string): string | undefined {
    return this.#names.has(name) ? fileOf(name) : undefined;
  }

  /** Adds words to the recording in this file. */
  said(file: string, words: string): void {
    this.#words.set(file, [...(this.#words.get(file) ?? []), words]);
  }

  /** All words in the recording of this file; undefined when the simulation did not make it. */
  words(file: string): string {
    return (this.#words.get(file) ?? []).join(' ');
  }

  async remove(_: string, name: string): Promise<boolean> {
    this.#words.delete(fileOf(name));
    return this.#names.delete(name);
  }
}

function fileOf(name: string): string {
  return `/simulation/${name}`;
}
