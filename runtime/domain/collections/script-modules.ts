/** What a script may import: other scripts of its domain, by code and format. */
import { createHash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Schema } from '../../storage/index.ts';
import type { Input } from './definition.ts';
import {
  type FoundModule,
  type Imports,
  moduleName,
  type ScriptData,
  type ScriptKind,
  type ScriptModules,
  type ScriptRow,
} from './script-row.ts';
import { readScriptVersion } from './script-versions.ts';

export const SCRIPT_KINDS = ['ivrscript', 'svcscript'] as const;

/** A script as the present transaction leaves it. */
export interface PendingScript {
  readonly entity: Input;
  readonly before: ScriptRow | undefined;
}

export interface DomainModulesOptions {
  readonly db: Kysely<Schema>;
  /** Of the importing script; modules of its kind come first. */
  readonly kind: ScriptKind;
  readonly domainId: string;
  /** True: the newest texts, also of drafts; false: those that serve. */
  readonly newest: boolean;
  /** Scripts of this kind that the transaction writes. */
  readonly pending?: readonly PendingScript[];
}

/** The modules of a domain as they are now. */
export function domainModules(
  db: Kysely<Schema>,
  options: Pick<DomainModulesOptions, 'kind' | 'domainId' | 'newest'>,
): ScriptModules {
  return new DomainModules({ db, ...options });
}

/** The modules of a domain. */
export class DomainModules implements ScriptModules {
  readonly #options: DomainModulesOptions;

  constructor(options: DomainModulesOptions) {
    this.#options = options;
  }

  async find(name: string): Promise<FoundModule> {
    const { kind, newest } = this.#options;
    const [code, format] = [name.slice(0, name.lastIndexOf('.')), name.slice(name.lastIndexOf('.') + 1)];
    let isKept = false;
    for (const each of [kind, ...SCRIPT_KINDS.filter((other) => other !== kind)]) {
      const found = await this.#script(each, code);
      if (found === undefined) continue;
      const data = newest ? found.newest : await found.served();
      if (data?.format === format) return { text: data.source.replace(/^\uFEFF/, '') };
      isKept ||= found.newest.format === format;
    }
    const instead = isKept
      ? `the script "${code}" has no version that serves: mend its mistakes, or end its draft, also in the same request`
      : `make a script of this domain with the code "${code}" and the format "${format}"`;
    return { others: await this.#names(name), instead };
  }

  async #script(kind: ScriptKind, code: string) {
    const { db, domainId, kind: own, pending = [] } = this.#options;
    const written = kind === own ? pending.filter(({ entity }) => entity['domain_id'] === domainId) : [];
    const last = written.findLast(({ entity }) => entity['code'] === code);
    if (last !== undefined)
      return { newest: last.entity['scriptdata'] as ScriptData, served: () => servedOfPending(db, kind, last) };
    const { rows } = await sql<ScriptRow>`
      select * from ${sql.table(`${kind}s`)} where domain_id = ${domainId} and code = ${code}`.execute(db);
    const [row] = rows;
    if (row === undefined || written.some(({ before }) => before?.id === row.id)) return undefined;
    return { newest: row.scriptdata, served: () => servedData(db, kind, row) };
  }

  async #names(missing: string): Promise<readonly string[]> {
    const { db, domainId } = this.#options;
    const { rows } = await sql<{ name: string }>`
      select code || '.' || (scriptdata->>'format') as name from ivrscripts where domain_id = ${domainId}
      union select code || '.' || (scriptdata->>'format') from svcscripts where domain_id = ${domainId}
      order by name limit 1000`.execute(db);
    return rows.map(({ name }) => name).filter((name) => !name.endsWith('.yaml') && name !== missing);
  }
}

/** Modules with known texts; the others are looked for elsewhere. */
export class KnownModules implements ScriptModules {
  readonly #texts: ReadonlyMap<string, string | undefined>;
  readonly #others: ScriptModules;

  constructor(texts: ReadonlyMap<string, string | undefined>, others: ScriptModules) {
    this.#texts = texts;
    this.#others = others;
  }

  async find(name: string): Promise<FoundModule> {
    const text = this.#texts.get(name);
    return text === undefined ? await this.#others.find(name) : { text };
  }
}

/** No modules. */
export const NO_MODULES: ScriptModules = { find: async () => ({ others: [], instead: undefined }) };

/** The text that serves; undefined without one. */
export async function servedData(
  db: Kysely<Schema>,
  kind: ScriptKind,
  { id, serving, version, scriptdata }: ScriptRow,
): Promise<ScriptData | undefined> {
  if (serving.version === null) return undefined;
  if (serving.version === version) return scriptdata;
  return (await readScriptVersion(db, kind, id, serving.version))?.scriptdata;
}

async function servedOfPending(
  db: Kysely<Schema>,
  kind: ScriptKind,
  { entity, before }: PendingScript,
): Promise<ScriptData | undefined> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- validated before
  const { scriptdata, draft, serving, opts } = entity as unknown as ScriptRow;
  const isSame = before !== undefined && sameData(before.scriptdata, scriptdata);
  if (isSame && !(before.draft && !draft)) return await servedData(db, kind, { ...before, serving });
  const isTried = Number(opts['share'] ?? 100) < 100 && before !== undefined && before.serving.version !== null;
  if (!draft && !isTried) return scriptdata;
  return before && (await servedData(db, kind, before));
}

export function sameData(one: ScriptData, other: ScriptData): boolean {
  return one.format === other.format && one.source === other.source;
}

/** A module of a row: its newest text, or the one that serves. */
export async function moduleOf(
  db: Kysely<Schema>,
  kind: ScriptKind,
  row: ScriptRow,
  newest: boolean,
): Promise<{ readonly name: string; readonly text: string } | undefined> {
  const data = newest ? row.scriptdata : await servedData(db, kind, row);
  const name = data && moduleName(row.code, data);
  return data === undefined || name === undefined ? undefined : { name, text: data.source.replace(/^\uFEFF/, '') };
}

export function hashOf(text: string | undefined): string | null {
  return text === undefined ? null : createHash('sha256').update(text).digest('base64url');
}

/** Keeps the texts of modules for the version that imports them. */
export async function keepModules(
  db: Kysely<Schema>,
  imports: ReadonlyMap<string, string | undefined>,
): Promise<Imports> {
  for (const text of imports.values())
    if (text !== undefined)
      await sql`insert into script_modules (hash, source) values (${hashOf(text)}, ${text}) on conflict do nothing`.execute(
        db,
      );
  return importsOf(imports);
}

export function importsOf(imports: ReadonlyMap<string, string | undefined>): Imports {
  const sorted = [...imports].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, text]) => [name, hashOf(text)]));
}

export function sameImports(one: Imports, other: Imports): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}

/** The texts of a version's modules by name. */
export async function readModules(db: Kysely<Schema>, imports: Imports): Promise<ReadonlyMap<string, string>> {
  const hashes = [...new Set(Object.values(imports).filter((hash) => hash !== null))];
  if (hashes.length === 0) return new Map();
  const rows = await db.selectFrom('script_modules').selectAll().where('hash', 'in', hashes).execute();
  const texts = new Map(rows.map(({ hash, source }) => [hash, source]));
  return new Map(
    Object.entries(imports).flatMap(([name, hash]) => {
      const text = hash === null ? undefined : texts.get(hash);
      return text === undefined ? [] : [[name, text]];
    }),
  );
}

/** Removes the texts that no version imports any more. */
export async function dropModules(db: Kysely<Schema>): Promise<void> {
  await sql`
    delete from script_modules where hash not in (
      select each.value from ivrscript_versions, jsonb_each_text(modules) each where each.value is not null
      union select each.value from svcscript_versions, jsonb_each_text(modules) each where each.value is not null
    )`.execute(db);
}
