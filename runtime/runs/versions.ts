/** Versions of scenario files, and their shares of new runs. */
import { mkdir, readFile, readdir, rename, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Program } from '../language/index.ts';
import { SharedMap } from './shared-map.ts';

/** A version of a scenario, for operators. */
export interface ScenarioVersion {
  /** Hash of the text. */
  readonly version: string;
  /** Counts from 1; 0: not counted yet. */
  readonly number: number;
  /** Share of new runs, in percent. */
  readonly percent: number;
  readonly text: string;
  /** Its file at that time. */
  readonly file: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
}

/** Counts the versions of scenarios. */
export interface VersionNumbers {
  /**
   * The number of a text; a new text gets the next one.
   * @returns undefined when it cannot be counted now
   */
  of(scenario: string, hash: string): Promise<number | undefined>;
}

/** An unknown version, or no version to go back to. */
export class VersionError extends Error {
  override readonly name = 'VersionError';
}

export interface VersionsOptions {
  /** Folder that keeps versions over a restart; default: in memory only. */
  readonly folder?: string;
  /** The program of an earlier version's text; undefined when it now has mistakes. */
  readonly check: (
    text: string,
    file: string,
    modules: Readonly<Record<string, string>>,
  ) => Promise<Program | undefined>;
  /** Default: counts in memory. */
  readonly numbers?: VersionNumbers | undefined;
  /** 0 to 1; for tests. */
  readonly random?: () => number;
}

interface Kept {
  readonly version: string;
  readonly number: number | undefined;
  readonly text: string;
  readonly file: string;
  readonly created: number;
  /** The texts of the modules that it imports, by name. */
  readonly modules: Readonly<Record<string, string>>;
  program: Program | undefined;
}

/** A scenario's state, replaced by each change. */
interface Scenario {
  readonly versions: readonly Kept[];
  readonly active: string;
  /** Gets `percent` of the new runs; `active` gets the others. */
  readonly trial: { readonly version: string; readonly percent: number } | undefined;
  /** The file's last version: a version is taken once, so that a rollback lasts until the file changes. */
  readonly latest: string;
}

type State = Pick<Scenario, 'active' | 'trial' | 'latest'> & { readonly order: readonly string[] };

/** All versions of scenarios, with their shares of new runs. */
export class ScenarioVersions {
  readonly #options: VersionsOptions;
  readonly #numbers: VersionNumbers;
  readonly #scenarios = new SharedMap<string, Scenario>();
  /** First share of a new version by scenario, in percent of new runs; without an entry 100. */
  readonly #shares = new Map<string, number>();

  constructor(options: VersionsOptions) {
    this.#options = options;
    this.#numbers = options.numbers ?? memoryNumbers();
  }

  /** The program with the number of its version. */
  async counted(program: Program): Promise<Program> {
    const { id, version } = program;
    // Earlier versions from before a restart come first.
    if (!this.#scenarios.has(id)) {
      const loaded = await this.#load(id);
      if (loaded) this.#scenarios.set(id, loaded);
    }
    return numbered(program, await this.#numbers.of(id, version));
  }

  /** Notes the present text of a scenario's file; new runs get a new version. @param program from `counted` */
  async add(program: Program, text: string): Promise<void> {
    const scenario = this.#scenarios.get(program.id) ?? (await this.#load(program.id));
    const { file, id, hash: version = program.version } = program;
    const known = scenario?.versions.find((kept) => kept.version === version);
    if (known) known.program = program;
    if (scenario?.latest === version) return void this.#scenarios.set(id, scenario);
    const number = program.hash === undefined ? undefined : Number(program.version);
    const kept: Kept = { version, number, text, file, created: Date.now(), modules: modulesOf(program), program };
    const share = scenario && this.#shares.get(id);
    this.#scenarios.set(id, {
      versions: known && scenario ? scenario.versions : [...(scenario?.versions ?? []), kept],
      latest: version,
      ...(scenario === undefined || share === undefined
        ? { active: version, trial: undefined }
        : { active: scenario.active, trial: { version, percent: share } }),
    });
    await this.#save(id, kept);
  }

  /** The program for a new run; undefined for an unknown scenario. */
  choose(id: string): Promise<Program | undefined> {
    return this.#choose(this.#scenarios.get(id));
  }

  /** Chooses programs as now, also after later changes. */
  snapshot(): (id: string) => Promise<Program | undefined> {
    const scenarios = this.#scenarios.snapshot();
    return (id) => this.#choose(scenarios.get(id));
  }

  async #choose(scenario: Scenario | undefined): Promise<Program | undefined> {
    if (!scenario) return undefined;
    const { trial, active } = scenario;
    const random = this.#options.random ?? Math.random;
    const version = trial && random() * 100 < trial.percent ? trial.version : active;
    return this.#program(scenario, version);
  }

  /** Oldest first. */
  versions(id: string): readonly ScenarioVersion[] {
    const scenario = this.#scenarios.get(id);
    return (scenario?.versions ?? []).map(({ version, number = 0, text, file, created }) => {
      const { trial, active } = scenario as Scenario;
      const tried = trial?.percent ?? 0;
      const percent = version === trial?.version ? tried : version === active ? 100 - tried : 0;
      return { version, number, percent, text, file, created };
    });
  }

  /**
   * Returns to the version before the active one; a version on trial is dropped first.
   * @throws VersionError
   */
  async rollback(id: string): Promise<void> {
    const scenario = this.#get(id);
    if (scenario.trial) this.#scenarios.set(id, { ...scenario, trial: undefined });
    else {
      const index = scenario.versions.findIndex(({ version }) => version === scenario.active);
      const before = scenario.versions[index - 1];
      if (!before) throw new VersionError(`"${id}" has no earlier version`);
      this.#scenarios.set(id, { ...scenario, active: before.version });
    }
    await this.#save(id);
  }

  /**
   * Gives a version a share of the new runs; 100 makes it the active one.
   * @param percent 0 to 100
   * @throws VersionError
   */
  async activate(id: string, version: string, percent = 100): Promise<void> {
    const scenario = this.#get(id);
    if (!scenario.versions.some((kept) => kept.version === version))
      throw new VersionError(`"${id}" has no version ${version}`);
    if (!(percent >= 0 && percent <= 100)) throw new VersionError(`the share ${percent} is not between 0 and 100`);
    this.#scenarios.set(id, {
      ...scenario,
      ...(percent === 100
        ? { active: version, trial: undefined }
        : { trial: version === scenario.active ? undefined : { version, percent } }),
    });
    await this.#save(id);
  }

  /** Sets the first share of later versions; undefined: 100. */
  setShare(id: string, percent: number | undefined): void {
    if (percent === undefined) this.#shares.delete(id);
    else this.#shares.set(id, percent);
  }

  #get(id: string): Scenario {
    const scenario = this.#scenarios.get(id);
    if (!scenario) throw new VersionError(`there is no scenario "${id}"`);
    return scenario;
  }

  async #program(scenario: Scenario, version: string): Promise<Program | undefined> {
    const kept = scenario.versions.find((candidate) => candidate.version === version);
    if (kept && !kept.program) {
      const program = await this.#options.check(kept.text, kept.file, kept.modules);
      kept.program = program && numbered(program, kept.number);
    }
    return kept?.program;
  }

  /** The state from before a restart. */
  async #load(id: string): Promise<Scenario | undefined> {
    const folder = this.#folder(id);
    if (folder === undefined) return undefined;
    let state: State & {
      readonly files: Readonly<Record<string, string>>;
      readonly modules?: Readonly<Record<string, Readonly<Record<string, string>>>>;
    };
    try {
      state = JSON.parse(await readFile(path.join(folder, 'state.json'), 'utf8')) as typeof state;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    const present = new Set(await readdir(folder));
    const versions: Kept[] = [];
    for (const version of state.order) {
      if (!present.has(`${version}.txt`)) continue;
      const kept = path.join(folder, `${version}.txt`);
      const text = await readFile(kept, 'utf8');
      const created = Math.round((await stat(kept)).mtimeMs);
      const number = await this.#numbers.of(id, version);
      const modules = state.modules?.[version] ?? {};
      versions.push({ version, number, text, file: state.files[version] ?? id, created, modules, program: undefined });
    }
    const { active, trial, latest } = state;
    return { versions, active, trial, latest };
  }

  /** Writes the state atomically: a temporary file is renamed. */
  async #save(id: string, kept?: Kept): Promise<void> {
    const folder = this.#folder(id);
    const scenario = this.#scenarios.get(id);
    if (folder === undefined || !scenario) return;
    await mkdir(folder, { recursive: true });
    if (kept) await writeFile(path.join(folder, `${kept.version}.txt`), kept.text);
    const { active, trial, latest, versions } = scenario;
    const files = Object.fromEntries(versions.map(({ version, file }) => [version, file]));
    const modules = Object.fromEntries(
      versions.flatMap((each) => (Object.keys(each.modules).length === 0 ? [] : [[each.version, each.modules]])),
    );
    const state = { active, trial, latest, order: versions.map(({ version }) => version), files, modules };
    const file = path.join(folder, 'state.json');
    await writeFile(`${file}.new`, JSON.stringify(state));
    await rename(`${file}.new`, file);
  }

  #folder(id: string): string | undefined {
    const { folder } = this.#options;
    return folder === undefined ? undefined : path.join(folder, id);
  }
}

/** The program of a file with its number as version. */
function numbered(program: Program, number: number | undefined): Program {
  return number === undefined ? program : { ...program, version: String(number), hash: program.version };
}

function memoryNumbers(): VersionNumbers {
  const known = new Map<string, string[]>();
  return {
    of: async (scenario, hash) => {
      const hashes = known.get(scenario) ?? [];
      known.set(scenario, hashes);
      if (!hashes.includes(hash)) hashes.push(hash);
      return hashes.indexOf(hash) + 1;
    },
  };
}

/** The texts of the modules of a program, by the names of their files. */
function modulesOf({ module }: Program): Readonly<Record<string, string>> {
  return Object.fromEntries((module?.modules ?? []).map(({ specifier, source }) => [specifier.slice(2), source]));
}
