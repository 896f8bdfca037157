/**
 * Finds the program of a code: scripts of the domain first, then the files of the node. The next run uses a changed script;
 * live runs keep their version.
 */
import type { DomainName } from '../domain-name/index.ts';
import {
  checkScriptText,
  domainModules,
  listScriptVersions,
  type LiveDirectory,
  readModules,
  readScriptVersion,
  type ScriptKind,
  type ScriptProblem,
  type ScriptRow,
  type ScriptText,
  type ScriptVersion,
  servingBefore,
} from '../domain/index.ts';
import {
  type CheckResult,
  type Program,
  readLimits,
  type ProgramRequest,
  type ScenarioSnapshot,
  type ScenarioSource,
  type ScenarioUse,
  type StartingScenario,
} from '../language/index.ts';
import type { ScenarioFile, ScenarioLibrary } from '../runs/index.ts';
import type { Storage } from '../storage/index.ts';
import type { ScriptCompiler } from './compile.ts';
import { FileVersions } from './file-versions.ts';
import { type Choose, ScriptIndex } from './script-index.ts';

const KINDS = ['ivrscript', 'svcscript'] as const;

/** The kind that is searched first. */
const ORDER: Readonly<Record<ScenarioUse, readonly ScriptKind[]>> = {
  call: ['ivrscript', 'svcscript'],
  service: ['svcscript', 'ivrscript'],
};

export interface ScriptStoreOptions {
  readonly storage: Pick<Storage, 'db' | 'log'>;
  readonly directory: Pick<LiveDirectory, 'collections' | 'domain' | 'domains'>;
  /** Scenarios of every domain; a script of the same code takes precedence. */
  readonly files: ScenarioSource & Pick<ScenarioLibrary, 'files' | 'brokenFile' | 'onChange' | 'versions'>;
  /** Domain of starts by schedules and events without one. */
  readonly fileDomain: DomainName;
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

  /** Reads and compiles every active script. */
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

  program(id: string, domain: DomainName, request: ProgramRequest = {}): Promise<Program | undefined> {
    const { ivrscript, svcscript } = this.#indexes;
    const choose = { ivrscript: ivrscript.choose, svcscript: svcscript.choose };
    return this.#program({ choose, files: this.#options.files }, [id, domain, request]);
  }

  snapshot(): ScenarioSnapshot {
    const { ivrscript, svcscript } = this.#indexes;
    const choose = { ivrscript: ivrscript.snapshot(), svcscript: svcscript.snapshot() };
    const files = this.#options.files.snapshot();
    return { program: (id, domain, request = {}) => this.#program({ choose, files }, [id, domain, request]) };
  }

  async #program(
    { choose, files }: { choose: Readonly<Record<ScriptKind, Choose>>; files: ScenarioSnapshot },
    [id, domain, request]: [id: string, domain: DomainName, request: ProgramRequest],
  ): Promise<Program | undefined> {
    const { use = 'call', caller } = request;
    const domainId = this.#options.directory.domain(domain)?.id;
    for (const kind of domainId === undefined ? [] : ORDER[use]) {
      const program = choose[kind](domainId ?? '', id, caller);
      if (program !== undefined) return program;
    }
    return await files.program(id, domain, request);
  }

  /**
   * The script or file of this code that cannot run: the number of its mistakes, the path that shows them, and whether it is
   * a module that others import.
   * @returns undefined when the code is unknown or can run
   */
  async unserved(
    code: string,
    domain: DomainName,
  ): Promise<{ readonly mistakes: number; readonly see: string; readonly isModule: boolean } | undefined> {
    const domainId = this.#options.directory.domain(domain)?.id ?? '';
    for (const kind of ORDER.call) {
      const id = this.#indexes[kind].idOf(domainId, code);
      const row = id === undefined ? undefined : await this.#collection(kind).get(id);
      if (row === undefined) continue;
      const mistakes = row.problems.filter(({ severity }) => severity === undefined).length;
      // What serves and cannot run has no default function.
      const isModule = mistakes === 0 && row.serving.version !== null;
      return { mistakes, see: `GET /domain/${kind}s/${row.id}`, isModule };
    }
    const broken = this.#options.files.brokenFile(code);
    return broken && { ...broken, see: `npx ringmaster check ${broken.file}` };
  }

  starting(): readonly StartingScenario[] {
    const names = new Map(this.#options.directory.domains().map(({ id, name }) => [id, name]));
    const taken = new Set<string>();
    const place = ({ id, domain = this.#options.fileDomain }: StartingScenario): string => `${domain}/${id}`;
    const scripts = ORDER.service.map((kind) => this.#indexes[kind].starting((id) => names.get(id)));
    // Of scenarios with the same code in a domain only the first one runs, so only it starts.
    return [...scripts, this.#options.files.starting()].flatMap((several) => {
      const first = several.filter((each) => !taken.has(place(each)));
      for (const each of several) taken.add(place(each));
      return first;
    });
  }

  scan(): Promise<void> {
    return this.#options.files.scan();
  }

  /** The files of a domain whose code no script of this kind has. */
  files(domainId: string): readonly ScenarioFile[] {
    return this.#options.files.files().filter(({ program }) => !this.#indexes.ivrscript.has(domainId, program.id));
  }

  /** The problems that a script would have with a text, which is not saved, and those of the scripts that import it. */
  check(text: ScriptText): Promise<readonly ScriptProblem[]> {
    const { check } = this.#options.compiler;
    return checkScriptText(text, { db: this.#options.storage.db, check });
  }

  /** The program that a script would have with a text, which is not saved, and its mistakes. */
  read({ kind, domainId, code, data, draft }: ScriptText): Promise<CheckResult> {
    const modules = domainModules(this.#options.storage.db, { kind, domainId, newest: draft });
    return this.#options.compiler.read({ code: code ?? kind, data }, modules);
  }

  /** The code of a module without its types, every position unchanged; undefined for one with mistakes, and for YAML. */
  plainCode({ kind, code, data }: Pick<ScriptText, 'kind' | 'code' | 'data'>): Promise<string | undefined> {
    return this.#options.compiler.plainCode({ code: code ?? kind, data });
  }

  /** The texts of a version's modules, by name. */
  modules({ modules }: Pick<ScriptVersion, 'modules'>): Promise<ReadonlyMap<string, string>> {
    return readModules(this.#options.storage.db, modules);
  }

  /** Newest first. */
  versions(kind: ScriptKind, id: string): Promise<readonly ScriptVersion[]> {
    return listScriptVersions(this.#options.storage.db, kind, id);
  }

  version(kind: ScriptKind, id: string, number: number): Promise<ScriptVersion | undefined> {
    return readScriptVersion(this.#options.storage.db, kind, id, number);
  }

  /**
   * Drops a trial, or returns to the last earlier version without mistakes.
   *
   * @returns undefined without such a version
   * @throws EntityNotFoundError
   */
  async rollback(kind: ScriptKind, { id, serving }: ScriptRow): Promise<ScriptRow | undefined> {
    const before = servingBefore(serving, await this.versions(kind, id));
    return before === undefined ? undefined : await this.#collection(kind).update(id, { serving: before });
  }

  #collection(kind: ScriptKind) {
    return this.#options.directory.collections[`${kind}s`];
  }

  /** Compiles the active versions that are not in memory. Versions with mistakes are logged and left out. */
  async #put(kind: ScriptKind, row: ScriptRow): Promise<void> {
    const index = this.#indexes[kind];
    const programs = new Map<number, Program>();
    for (const number of [row.serving.version, row.serving.trial?.version]) {
      if (typeof number !== 'number') continue;
      const program = await this.#compile(kind, row, number);
      if (program === 'shared') continue;
      if (program !== undefined) programs.set(number, program);
      else
        this.#options.storage.log.error(
          { script: row.code, kind, version: number },
          'a served version has mistakes and cannot run',
        );
    }
    index.put(row, programs);
  }

  async #compile(kind: ScriptKind, row: ScriptRow, number: number): Promise<Program | 'shared' | undefined> {
    const { storage, compiler } = this.#options;
    const { id, code } = row;
    const version = number === row.version ? row : await readScriptVersion(storage.db, kind, id, number);
    if (version === undefined) return undefined;
    // Service scripts are started by requests unless they forbid it.
    const hook = kind === 'svcscript' && row.opts['hook'] !== false;
    const modules = await this.modules(version);
    const program = await compiler.program({ code, data: version.scriptdata }, modules, { number, hook });
    const wanted = row.opts['limits'];
    if (program === undefined || program === 'shared') return program;
    const limits = wanted === undefined ? program.limits : { ...program.limits, ...readLimits(wanted).limits };
    return { ...program, entity: id, ...(limits === undefined ? {} : { limits }) };
  }
}
