import path from 'node:path';
import type { ScriptVersion, Serving } from '../domain/index.ts';
import { type ScenarioVersions, VersionError } from '../runs/index.ts';

/** Versions of the node's scenario files, numbered from 1 like those of scripts. */
export class FileVersions {
  readonly #versions: ScenarioVersions;

  constructor(versions: ScenarioVersions) {
    this.#versions = versions;
  }

  /** Newest first; all of them can run. */
  list(code: string): readonly ScriptVersion[] {
    return this.#versions
      .versions(code)
      .map(({ number, text, file, created }) => ({
        script_id: code,
        number,
        scriptdata: { format: formatOf(file), source: text },
        problems: [],
        modules: {},
        draft: false,
        created,
      }))
      .toSorted((one, other) => other.number - one.number);
  }

  serving(code: string): Serving {
    const versions = this.#versions.versions(code);
    const [first, second] = versions.filter(({ percent }) => percent > 0).toSorted((a, b) => a.number - b.number);
    if (!first) return { version: null };
    return second
      ? { version: first.number, trial: { version: second.number, percent: second.percent } }
      : { version: first.number };
  }

  /** Chooses the versions for new runs. @returns the field with an unknown version */
  async serve(
    code: string,
    { version, trial }: Serving,
  ): Promise<'serving.version' | 'serving.trial.version' | 'serving.trial.callers' | undefined> {
    const hash = (wanted: number | null): string | undefined =>
      this.#versions.versions(code).find(({ number }) => number === wanted)?.version;
    const active = hash(version);
    if (active === undefined) return 'serving.version';
    const tried = trial && hash(trial.version);
    if (trial && tried === undefined) return 'serving.trial.version';
    if (trial?.callers !== undefined) return 'serving.trial.callers';
    await this.#versions.activate(code, active);
    if (trial && tried !== undefined) await this.#versions.activate(code, tried, trial.percent);
    return undefined;
  }

  /** Drops a trial, or returns to the version before. @returns false without an earlier version */
  async rollback(code: string): Promise<boolean> {
    try {
      await this.#versions.rollback(code);
      return true;
    } catch (error) {
      if (error instanceof VersionError) return false;
      throw error;
    }
  }
}

export function formatOf(file: string): 'yaml' | 'js' | 'ts' {
  const extension = path.extname(file);
  return extension === '.ts' ? 'ts' : extension === '.js' ? 'js' : 'yaml';
}
