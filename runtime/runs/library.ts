/** The scenarios in the files of some folders. */
import path from 'node:path';
import {
  checkText,
  formatProblem,
  isMistake,
  type ReadModule,
  type Problem,
  type Program,
  type ScenarioSource,
  type StartingScenario,
} from '../language/index.ts';
import { checkScenarioFile, type CheckedFile, type CheckOptions, type FileChecks } from './file-checks.ts';
import type { Log } from './log.ts';
import { filesOf, stampsOf, wasWritten } from './scenario-files.ts';
import { SharedMap } from './shared-map.ts';
import { ScenarioVersions, type VersionNumbers } from './versions.ts';

export interface LibraryOptions extends CheckOptions {
  /** Folders of scenario files (`*.yaml`, `*.yml`, `*.js`, `*.ts`); of two scenarios with the same id, the first is used. */
  readonly folders: readonly string[];
  readonly log: Log;
  /** Folder that keeps versions over a restart; default: in memory only. */
  readonly versionsFolder?: string;
  /** Counts versions; default: in memory. */
  readonly numbers?: VersionNumbers;
  /** Checks that have begun already. */
  readonly checks?: FileChecks;
}

/** The scenarios in the files of some folders. The next run uses a changed file; a broken change keeps the old version. */
export interface ScenarioLibrary extends ScenarioSource {
  /**
   * The scenario for a new run: the version chosen by rollback or share, otherwise the last version without mistakes.
   * Undefined for an unknown scenario.
   */
  program(id: string): Promise<Program | undefined>;
  snapshot(): Pick<ScenarioLibrary, 'program'>;
  /** Every scenario that can run, as last read. */
  programs(): readonly Program[];
  /** Mistakes in the files, as last read. */
  problems(): readonly Problem[];
  /** The files of the scenarios that can run, as last read. */
  files(): readonly ScenarioFile[];
  /** The file of a scenario without any version that can run, or of a module that others import. */
  brokenFile(id: string): { readonly file: string; readonly mistakes: number; readonly isModule: boolean } | undefined;
  /** Calls `listener` after scenarios were added, changed or deleted. */
  onChange(listener: () => void): void;
  /** All versions, with rollback and shares. */
  readonly versions: ScenarioVersions;
}

/** A scenario with its file. */
export interface ScenarioFile {
  readonly program: Program;
  readonly text: string;
  /** After mistakes, `program` is an older version. */
  readonly problems: readonly Problem[];
}

interface FileState {
  /** Id of the scenario; the file's name without its extension when it cannot be read. */
  readonly id: string;
  /** Modification time and size, to detect changes. */
  readonly stamp: string;
  readonly program: Program | undefined;
  readonly text: string;
  readonly problems: readonly Problem[];
  /** A module that scenarios import. */
  readonly shared: boolean;
  /**
   * The files that it imports, also missing ones, and with mistakes the folders of prompts, where one may be missing: their
   * changes are its changes.
   */
  readonly uses: readonly string[];
}

/** Reads and checks every scenario file of the folders. A missing folder counts as empty. */
export async function openScenarioLibrary(options: LibraryOptions): Promise<ScenarioLibrary> {
  const library = new FileLibrary(options);
  await library.scan();
  return library;
}

class FileLibrary implements ScenarioLibrary {
  readonly #options: LibraryOptions;
  readonly #files = new SharedMap<string, FileState>();
  readonly #byId = new SharedMap<string, string>();
  readonly versions: ScenarioVersions;
  readonly #listeners = new Set<() => void>();
  /** Changed files that are being read and checked. */
  readonly #reading = new Map<string, { readonly stamp: string; readonly done: Promise<void> }>();

  constructor(options: LibraryOptions) {
    const { components, compile, versionsFolder, numbers } = options;
    this.#options = options;
    this.versions = new ScenarioVersions({
      ...(versionsFolder === undefined ? {} : { folder: versionsFolder }),
      numbers,
      check: async (text, file, modules) =>
        (await checkText(text, { file, components, readModule: among(modules), ...(compile ? { compile } : {}) }))
          .program,
    });
  }

  async program(id: string): Promise<Program | undefined> {
    const known = this.#byId.get(id);
    if (known !== undefined) await this.#refresh(known);
    // New, renamed, or with a changed id.
    if (!this.#byId.has(id)) await this.scan();
    const file = this.#byId.get(id);
    const current = file === undefined ? undefined : this.#files.get(file)?.program;
    return current && ((await this.versions.choose(id)) ?? current);
  }

  /** A file that was written before the snapshot and not read yet counts as it is; so do files that it lacks. */
  snapshot(): Pick<ScenarioLibrary, 'program'> {
    const [byId, files, choose] = [this.#byId.snapshot(), this.#files.snapshot(), this.versions.snapshot()];
    const before = Date.now() - CLOCK_MS;
    return {
      program: async (id) => {
        const file = byId.get(id) ?? '';
        const { program, stamp, uses = [] } = files.get(file) ?? {};
        if (program === undefined || (await wasWritten([file, ...uses], before, stamp))) return await this.program(id);
        return (await choose(id)) ?? program;
      },
    };
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  programs(): readonly Program[] {
    return [...this.#byId.values()].flatMap((file) => this.#files.get(file)?.program ?? []);
  }

  starting(): readonly StartingScenario[] {
    return this.programs().flatMap(({ id, starts = [] }) =>
      starts.length > 0 ? { id, starts, domain: undefined } : [],
    );
  }

  problems(): readonly Problem[] {
    return [...this.#files.values()].flatMap(({ problems }) => problems);
  }

  files(): readonly ScenarioFile[] {
    return [...this.#byId.values()].flatMap((file) => {
      const { program, text = '', problems = [] } = this.#files.get(file) ?? {};
      return program ? { program, text, problems } : [];
    });
  }

  brokenFile(id: string): { readonly file: string; readonly mistakes: number; readonly isModule: boolean } | undefined {
    const [file, state] =
      [...this.#files.entries()].find(([, each]) => each.id === id && each.program === undefined) ?? [];
    return file === undefined || state === undefined
      ? undefined
      : { file: path.basename(file), mistakes: state.problems.filter(isMistake).length, isModule: state.shared };
  }

  /** Scans the folders for new, changed and deleted files. */
  async scan(): Promise<void> {
    const found = await filesOf(this.#options.folders);
    for (const [file] of this.#files.entries()) if (!found.includes(file)) this.#forget(file);
    for (const file of found) await this.#refresh(file);
  }

  async #refresh(file: string): Promise<void> {
    const before = this.#files.get(file);
    const stamp = await stampsOf(file, before?.uses ?? []);
    if (stamp === undefined) return this.#forget(file);
    if (before?.stamp === stamp) return;
    const reading = this.#reading.get(file);
    if (reading?.stamp === stamp) return await reading.done;
    const done = this.#read(file, stamp, before);
    this.#reading.set(file, { stamp, done });
    try {
      await done;
    } finally {
      if (this.#reading.get(file)?.done === done) this.#reading.delete(file);
    }
  }

  async #read(file: string, stamp: string, before: FileState | undefined): Promise<void> {
    const begun = this.#options.checks?.get(file);
    this.#options.checks?.delete(file);
    let checked: CheckedFile;
    try {
      checked = await (begun?.stamp === stamp ? begun.checked : checkScenarioFile(file, this.#options));
    } catch (error) {
      return this.#unchecked(file, error);
    }
    const { draft, problems, text, shared = false, prompts } = checked;
    const uses = new Map(checked.uses);
    const program = checked.program && (await this.versions.counted(checked.program));
    const id = program?.id ?? draft?.id ?? nameOf(file);
    // The file changed again meanwhile.
    if (this.#reading.get(file)?.stamp !== stamp) return;
    const [own = ''] = stamp.split(' ');
    if (problems.some(isMistake)) for (const [folder, its] of prompts) uses.set(folder, its);
    this.#files.set(file, {
      id,
      stamp: [own, ...uses.values()].join(' '),
      program: shared ? undefined : (program ?? before?.program),
      text,
      problems,
      shared,
      uses: [...uses.keys()],
    });
    this.#index();
    if (program && this.#byId.get(program.id) === file) await this.versions.add(program, text);
    if (shared && !problems.some(isMistake)) {
      this.#options.log.info({ file }, 'module loaded');
    } else if (program) {
      this.#options.log.info(
        { scenario: program.id, version: program.version, file },
        before ? 'scenario changed' : 'scenario loaded',
      );
    } else {
      const message = before?.program
        ? 'scenario file has mistakes, its old version stays'
        : 'scenario file has mistakes';
      this.#options.log.error({ file, problems: problems.map(formatProblem) }, message);
    }
  }

  /** A failed check does not stop the others; the next scan repeats it. */
  #unchecked(file: string, error: unknown): void {
    const { program, text = '' } = this.#files.get(file) ?? {};
    const message = `it could not be checked: ${error instanceof Error ? error.message : String(error)}`;
    const id = program?.id ?? nameOf(file);
    const problems = [{ file, line: 1, column: 1, message }];
    this.#files.set(file, { id, stamp: '', program, text, problems, shared: false, uses: [] });
    this.#options.log.error({ file, err: error }, 'scenario file could not be checked');
  }

  #forget(file: string): void {
    if (this.#files.delete(file)) this.#options.log.info({ file }, 'scenario file was deleted');
    this.#index();
  }

  /** Rebuilds the whole index: ids are few and files seldom change. */
  #index(): void {
    const byId = new Map<string, string>();
    for (const [file, { program }] of [...this.#files.entries()].toSorted(
      ([a], [b]) => this.#rank(a) - this.#rank(b),
    )) {
      if (!program) continue;
      const other = byId.get(program.id);
      if (other === undefined) byId.set(program.id, file);
      else this.#options.log.warn({ scenario: program.id, file, used: other }, 'two scenario files have the same id');
    }
    this.#byId.replace(byId);
    for (const listener of this.#listeners) listener();
  }

  #rank(file: string): number {
    return this.#options.folders.findIndex((folder) => file.startsWith(path.resolve(folder) + path.sep));
  }
}

function nameOf(file: string): string {
  return path.basename(file, path.extname(file));
}

/** Milliseconds by which a file system's clock may be behind. */
const CLOCK_MS = 20;

/** The modules of a version. */
function among(modules: Readonly<Record<string, string>>): ReadModule {
  return async (name) => {
    const text = modules[name];
    return text === undefined ? { kind: 'missing', others: Object.keys(modules) } : { kind: 'text', text };
  };
}
