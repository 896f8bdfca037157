/** `/domain/ivrscripts` and `/domain/svcscripts`: the scripts of a domain, and the scenario files that every domain has. */
import path from 'node:path';
import { type LiveDirectory, type ScriptRow, servingOf, type WriteOptions } from '../../runtime/domain/index.ts';
import type { Session } from '../../runtime/iam/index.ts';
import type { ScenarioFile } from '../../runtime/runs/index.ts';
import { formatOf, type ScriptStore, withoutFile } from '../../runtime/script-store/index.ts';
import type { Precondition } from '../collection/entity-tag.ts';
import type { Fields } from '../collection/resource.ts';
import { ofIndex } from '../collection/several.ts';
import { badParameter, RestError } from '../errors.ts';
import { DomainResource } from './domain-resource.ts';
import { asRestErrors } from './entity-errors.ts';

/** Prefix of a scenario file's id; its code follows. */
const FILE = 'file.';

/** Fields about active versions, which a copy does not have. */
const RULES = { keys: ['code'], notExported: ['serving'], inMemory: true } as const;

export class ScriptResource extends DomainResource<ScriptRow> {
  readonly #files: Pick<ScriptStore, 'files' | 'fileVersions'> | undefined;
  readonly #domains: Pick<LiveDirectory, 'domain'>;

  /** @param files undefined: files are not shown here */
  constructor(
    kind: 'ivrscripts' | 'svcscripts',
    directory: Pick<LiveDirectory, 'collections' | 'domain' | 'domains'>,
    files: Pick<ScriptStore, 'files' | 'fileVersions'> | undefined,
  ) {
    const entity = kind === 'ivrscripts' ? 'Ivrscript' : 'Svcscript';
    super(directory.collections[kind], directory, { entity, ...RULES });
    this.#files = files;
    this.#domains = directory;
  }

  override async list(session: Session): Promise<readonly ScriptRow[]> {
    const rows = [...(await super.list(session)), ...this.#fileRows(session)];
    return rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  override async read(session: Session, id: string): Promise<ScriptRow | undefined> {
    return (await super.read(session, id)) ?? this.#fileRows(session).find((row) => row.id === id);
  }

  override async lookup(session: Session, keys: Fields): Promise<readonly string[]> {
    const ids = await super.lookup(session, keys);
    const files = this.#fileRows(session).filter((row) =>
      Object.entries(keys).every(([key, value]) => row[key as keyof ScriptRow] === value),
    );
    return [...ids, ...files.map(({ id }) => id)];
  }

  override async create(session: Session, fields: Fields, options?: WriteOptions): Promise<ScriptRow> {
    refuseFileId(fields);
    return await super.create(session, fields, options);
  }

  override async createAll(
    session: Session,
    list: readonly Fields[],
    options?: WriteOptions,
  ): Promise<readonly ScriptRow[]> {
    for (const [index, fields] of list.entries()) await ofIndex(index, async () => refuseFileId(fields));
    return await super.createAll(session, list, options);
  }

  override async update(
    session: Session,
    id: string,
    fields: Fields,
    precondition?: Precondition,
    options?: WriteOptions,
  ): Promise<ScriptRow> {
    const code = await this.fileCode(session, id);
    if (code !== undefined && Object.keys(fields).every((key) => key === 'serving')) {
      precondition?.(await this.read(session, id));
      return await this.#serveFile(session, id, code, fields['serving'], options);
    }
    await this.#refuseFile(session, id);
    return await super.update(session, id, fields, precondition, options);
  }

  override async updateAll(
    session: Session,
    list: readonly Fields[],
    options?: WriteOptions,
  ): Promise<readonly ScriptRow[]> {
    for (const [index, { id }] of list.entries()) await ofIndex(index, () => this.#refuseFile(session, String(id)));
    return await super.updateAll(session, list, options);
  }

  override async remove(session: Session, id: string, precondition?: Precondition): Promise<void> {
    await this.#refuseFile(session, id);
    await super.remove(session, id, precondition);
  }

  /** A file that is posted back becomes a script. */
  override importable(entity: object): object {
    const { id, ...copy } = super.importable(entity) as { id: string };
    return id.startsWith(FILE) ? copy : { id, ...copy };
  }

  /** Id of the session's domain; empty when it was removed meanwhile. */
  domainId(session: Session): string {
    return this.#domains.domain(session.domain)?.id ?? '';
  }

  /** The code of the file with this id; undefined for other ids. */
  async fileCode(session: Session, id: string): Promise<string | undefined> {
    if (!id.startsWith(FILE) || (await super.read(session, id)) !== undefined) return undefined;
    return this.#fileRows(session).find((row) => row.id === id)?.code;
  }

  /**
   * Files serve every domain of the node: the master domain chooses their versions.
   * @throws RestError 422/1405
   */
  refuseUnlessMaster(session: Session): void {
    if (this.#domains.domain(session.domain)?.isMaster === true) return;
    const reason = 'is that of a file of the node, which serves every domain: the master domain chooses its version';
    throw new RestError('CANNOT_APPLY', { field: 'serving', reason });
  }

  /** @throws RestError 400/1400, 422/1405 */
  async #serveFile(
    session: Session,
    id: string,
    code: string,
    serving: unknown,
    options?: WriteOptions,
  ): Promise<ScriptRow> {
    this.refuseUnlessMaster(session);
    const wanted = await asRestErrors(this.entity, async () => servingOf(serving));
    if (options?.dryRun === true)
      throw badParameter('dry_run', 'is not offered for files of the node; their versions are at versions');
    const missing = await this.#files?.fileVersions.serve(code, wanted);
    if (missing !== undefined) throw badParameter(missing, 'is no version of this file');
    return (await this.read(session, id)) as ScriptRow;
  }

  /** @throws RestError 422/1405 */
  async #refuseFile(session: Session, id: string): Promise<void> {
    if ((await this.fileCode(session, id)) === undefined) return;
    const reason = 'is a file of the node; POST a script with the same code to replace it in this domain';
    throw new RestError('CANNOT_APPLY', { field: 'id', reason });
  }

  #fileRows(session: Session): readonly ScriptRow[] {
    const domainId = this.#domains.domain(session.domain)?.id;
    if (domainId === undefined || this.#files === undefined) return [];
    const { fileVersions } = this.#files;
    return this.#files.files(domainId).map((file) => fileRow(file, domainId, fileVersions));
  }
}

/** @throws RestError 400/1400 */
function refuseFileId({ id }: Fields): void {
  if (typeof id === 'string' && id.startsWith(FILE))
    throw badParameter('id', `begins with ${FILE}, as those of files do`);
}

function fileRow(
  { program, text, problems }: ScenarioFile,
  domainId: string,
  versions: ScriptStore['fileVersions'],
): ScriptRow {
  return {
    id: FILE + program.id,
    domain_id: domainId,
    code: program.id,
    name: program.name,
    scriptdata: { format: formatOf(program.file), source: text },
    serving: versions.serving(program.id),
    version: program.hash === undefined ? 0 : Number(program.version),
    draft: false,
    problems: problems.map(withoutFile),
    modules: {},
    opts: { file: path.basename(program.file) },
    ext: {},
  };
}
