/**
 * Which program a code means: scripts of the domain first, then the files of the node. A change of a script serves the
 * next run; whoever runs keeps the version it started with.
 */
import { listScriptVersions, type LiveDirectory, readScriptVersion, type ScriptKind, type ScriptRow, type ScriptVersion, servingBefore } from '../domain/index.ts';
import { type Program, readLimits, type ScenarioSource, type ScenarioUse, type StartingScenario } from '../language/index.ts';
import type { ScenarioFile, ScenarioLibrary } from '../runs/index.ts';
import type { Storage } from '../storage/index.ts';
import type { ScriptCompiler } from './compile.ts';
import { FileVersions } from './file-versions.ts';
import { ScriptIndex } from './script-index.ts';

const KINDS = ['ivrscript', 'svcscript'] as const;

/** Which kind is looked at first. */
const ORDER: Readonly<Record<ScenarioUse, readonly ScriptKind[]>> = {
  call: ['ivrscript', 'svcscript'],
  service: ['svcscript', 'ivrscript'],
};

export interface ScriptStoreOptions {
  readonly storage: Pick<Storage, 'db' | 'log'>;
  readonly directory: Pick<LiveDirectory, 'collections' | 'domain' | 'domains'>;
  /** What every domain has; a script of the same code goes before. */
  readonly files: ScenarioSource & Pick<ScenarioLibrary, 'files' | 'brokenFile' | 'onChange' | 'versions'>;
  /** Domain in which files are started by schedules and events that name none. */
  readonly fileDomain: string;
  readonly compiler: ScriptCompiler;
  /** 0 to 1; for tests. */
  readonly random?: () => number;
}

export class ScriptStore implements ScenarioSource {
  readonly fileVersions: FileVersions;
  readonly #options: ScriptStoreOptions;
  readonly #indexes: Readonly<Record<ScriptKind, ScriptIndex>>;
  readonly #listeners = new Set<() => void>();

  private constructor(options: ScriptStoreOptions) {
    this.#options = options;
    this.fileVersions = new FileVersions(options.files.versions);
    this.#indexes = { ivrscript: new ScriptIndex(options.random), svcscript: new ScriptIndex(options.random) };
  }

  /** Reads and compiles every script that serves. */
  static async open(options: ScriptStoreOptions): Promise<ScriptStore> {
    const store = new ScriptStore(options);
    options.files.onChange(() => store.#changed());
    for (const kind of KINDS) {
      const collection = store.#collection(kind);
      collection.onChange(async ({ before, after }) => {
        if (after !== undefined) await store.#put(kind, after);
        else if (before !== undefined) store.#indexes[kind].remove(before.id);
        store.#changed();
      });
      collection.onReset(async () => {
        store.#indexes[kind].clear();
        await store.#load(kind);
        store.#changed();
      });
      await store.#load(kind);
    }
    return store;
  }

  async #load(kind: ScriptKind): Promise<void> {
    for (const row of await this.#collection(kind).list()) await this.#put(kind, row);
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` after each change of a script or file. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  async program(id: string, domain: string, use: ScenarioUse = 'call'): Promise<Program | undefined> {
    const domainId = this.#options.directory.domain(domain)?.id;
    for (const kind of domainId === undefined ? [] : ORDER[use]) {
      const program = this.#indexes[kind].choose(domainId ?? '', id);
      if (program !== undefined) return program;
    }
    return await this.#options.files.program(id, domain, use);
  }

  /**
   * The script or file of this code that cannot run: the number of its mistakes, and where they can be read.
   * @returns undefined when there is none
   */
  async unserved(
    code: string,
    domain: string,
  ): Promise<{ readonly mistakes: number; readonly see: string } | undefined> {
    const domainId = this.#options.directory.domain(domain)?.id ?? '';
    for (const kind of ORDER.call) {
      const id = this.#indexes[kind].idOf(domainId, code);
      const row = id === undefined ? undefined : await this.#collection(kind).get(id);
      if (row !== undefined)
        return {
          mistakes: row.problems.filter(({ severity }) => severity === undefined).length,
          see: `GET /domain/${kind}s/${row.id}`,
        };
    }
    const broken = this.#options.files.brokenFile(code);
    return broken && { mistakes: broken.mistakes, see: `npx ringmaster check ${broken.file}` };
  }

  starting(): readonly StartingScenario[] {
    const names = new Map(this.#options.directory.domains().map(({ id, name }) => [id, name]));
    const taken = new Set<string>();
    const place = ({ id, domain = this.#options.fileDomain }: StartingScenario): string =>
      `${domain.toLowerCase()}/${id}`;
    const scripts = ORDER.service.map((kind) => this.#indexes[kind].starting((id) => names.get(id)));
    // Of scenarios that share a code in a domain the first one runs, so it alone starts.
    return [...scripts, this.#options.files.starting()].flatMap((several) => {
      const first = several.filter((each) => !taken.has(place(each)));
      for (const each of several) taken.add(place(each));
      return first;
    });
  }

  scan(): Promise<void> {
    return this.#options.files.scan();
  }

  /** The files that a domain has beside its scripts of this kind: those whose code none of them has. */
  files(domainId: string): readonly ScenarioFile[] {
    return this.#options.files.files().filter(({ program }) => !this.#indexes.ivrscript.has(domainId, program.id));
  }

  /** Newest first. */
  versions(kind: ScriptKind, id: string): Promise<readonly ScriptVersion[]> {
    return listScriptVersions(this.#options.storage.db, kind, id);
  }

  version(kind: ScriptKind, id: string, number: number): Promise<ScriptVersion | undefined> {
    return readScriptVersion(this.#options.storage.db, kind, id, number);
  }

  /**
   * Gives up a trial, or goes back to the version before that can run.
   *
   * @returns undefined when there is none to go back to
   * @throws EntityNotFoundError
   */
  async rollback(kind: ScriptKind, { id, serving }: ScriptRow): Promise<ScriptRow | undefined> {
    const before = servingBefore(serving, await this.versions(kind, id));
    return before === undefined ? undefined : await this.#collection(kind).update(id, { serving: before });
  }

  #collection(kind: ScriptKind) {
    return this.#options.directory.collections[`${kind}s`];
  }

  /** Compiles what serves and is not there yet. What cannot run is left out, and the log says so. */
  async #put(kind: ScriptKind, row: ScriptRow): Promise<void> {
    const index = this.#indexes[kind];
    const programs = new Map<number, Program>();
    for (const number of [row.serving.version, row.serving.trial?.version]) {
      if (typeof number !== 'number') continue;
      const program = await this.#compile(kind, row, number);
      if (program !== undefined) programs.set(number, program);
      else this.#options.storage.log.error({ script: row.code, kind, version: number }, 'script cannot run any more');
    }
    index.put(row, programs);
  }

  async #compile(kind: ScriptKind, row: ScriptRow, number: number): Promise<Program | undefined> {
    const { storage, compiler } = this.#options;
    const { id, code } = row;
    const data =
      number === row.version ? row.scriptdata : (await readScriptVersion(storage.db, kind, id, number))?.scriptdata;
    // Service scripts are made to be started by others, unless they say no.
    const hook = kind === 'svcscript' && row.opts['hook'] !== false;
    const program = data === undefined ? undefined : await compiler.program({ code, data }, { number, hook });
    const wanted = row.opts['limits'];
    if (program === undefined) return undefined;
    const limits = wanted === undefined ? program.limits : { ...program.limits, ...readLimits(wanted).limits };
    return { ...program, entity: id, ...(limits === undefined ? {} : { limits }) };
  }
}
