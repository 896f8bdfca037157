import type { RecordingStore } from '../ports/recording.ts';
import type { Fixtures } from './simulated-model.ts';

/** The recordings of a simulation: those that it made, and those that are named in the data model it begins with. */
export class SimulatedRecordings implements RecordingStore {
  readonly #names: Set<string>;

  constructor(fixtures: Fixtures = {}) {
    const named = JSON.stringify(fixtures).matchAll(/"recording:([\w.-]+)"/g);
    this.#names = new Set([...named].map(([, name = '']) => name));
  }

  async create(_: string, name: string): Promise<string> {
    this.#names.add(name);
    return `/simulation/${name}`;
  }

  find(_: string, name: string): string | undefined {
    return this.#names.has(name) ? `/simulation/${name}` : undefined;
  }

  async remove(_: string, name: string): Promise<boolean> {
    return this.#names.delete(name);
  }
}
