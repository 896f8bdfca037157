/**
 * Finds files without an entity. Files are stored by their hash and have no owner. An operation that may leave a file
 * behind therefore notes the hash as suspect; an old suspect is looked up in every class.
 */
import { type FileStore, sql, type Storage } from '../../storage/index.ts';
import type { ResolvedClass } from '../class-definition.ts';
import type { Entity } from '../fields.ts';
import type { StoredClass } from '../stored-class.ts';
import { columnOf, tableOf } from '../table/names.ts';
import { hashesOf } from './info.ts';

/** Milliseconds after which the entity of an uploaded file must have been written. */
const GRACE_MS = 3_600_000;
/** Milliseconds after which an upload counts as abandoned. */
const UNFINISHED_MS = 86_400_000;
const BATCH = 100;

export interface OrphansOptions {
  readonly storage: Storage;
  readonly files: FileStore;
  readonly now: () => number;
  /** All classes. */
  readonly classes: () => readonly StoredClass[];
  /** True when an entity of a memory class has this file. */
  readonly inMemory: (stored: StoredClass, hasha: string) => boolean;
  readonly isInMemory: (stored: StoredClass) => boolean;
  /** True when something other than an entity (an avatar) uses this file. */
  readonly usesFile: (hasha: string) => Promise<boolean>;
}

export class Orphans {
  readonly #options: OrphansOptions;

  constructor(options: OrphansOptions) {
    this.#options = options;
  }

  /** Notes files that may have lost their last entity, or have none yet. */
  async suspect(hashes: readonly string[]): Promise<void> {
    if (hashes.length === 0) return;
    const { storage, now } = this.#options;
    await sql`
      insert into model_suspect_files (hasha, since) select distinct unnest(${hashes}::text[]), ${now()}::bigint
      on conflict (hasha) do update set since = excluded.since`.execute(storage.db);
  }

  /** Notes the files that a change removed from an entity. */
  async changed(definition: ResolvedClass, before: Entity | undefined, after?: Entity): Promise<void> {
    if (before === undefined || !hasAttachments(definition)) return;
    const kept = new Set(after === undefined ? [] : hashesOf(definition, after));
    await this.suspect(hashesOf(definition, before).filter((hasha) => !kept.has(hasha)));
  }

  /** Notes all files of a table class, before its rows are removed by one statement. */
  async emptied(stored: StoredClass): Promise<void> {
    const { storage, now } = this.#options;
    for (const { name, data_type: type, multi } of stored.allProperties) {
      if (type !== 'attachment') continue;
      const column = columnOf(stored, name);
      const infos = multi ? sql`jsonb_array_elements(${column})` : column;
      await sql`
        insert into model_suspect_files (hasha, since)
        select distinct info ->> 'hasha', ${now()}::bigint from (select ${infos} as info from ${tableOf(stored)}) t
        where info ->> 'hasha' is not null
        on conflict (hasha) do update set since = excluded.since`.execute(storage.db);
    }
  }

  /**
   * Removes files that no entity has had for `graceMs`.
   *
   * @param graceMs milliseconds
   * @returns the number of removed files
   */
  async sweep(graceMs = GRACE_MS): Promise<number> {
    const { storage, files, now } = this.#options;
    await files.tidy(new Date(now() - UNFINISHED_MS));
    let removed = 0;
    for (;;) {
      const { rows } = await sql<{ hasha: string; since: number }>`
        select hasha, since from model_suspect_files where since <= ${now() - graceMs}::bigint
        order by since limit ${BATCH}`.execute(storage.db);
      for (const { hasha, since } of rows) {
        const isUsed = await this.#isUsed(hasha);
        // A hash noted again meanwhile is about to be used; another node may have removed it first.
        const claimed = await sql`
          delete from model_suspect_files where hasha = ${hasha} and since = ${since}::bigint
          returning hasha`.execute(storage.db);
        if (isUsed || claimed.rows.length === 0) continue;
        await files.remove(hasha);
        removed += 1;
      }
      if (rows.length < BATCH) return removed;
    }
  }

  async #isUsed(hasha: string): Promise<boolean> {
    const { storage, classes, inMemory, isInMemory, usesFile } = this.#options;
    if (await usesFile(hasha)) return true;
    for (const stored of classes()) {
      if (stored.storage_mode === 'abstract' || !hasAttachments(stored)) continue;
      if (isInMemory(stored)) {
        if (!inMemory(stored, hasha)) continue;
        // Entities of memory classes end with the node, without a notice for each.
        await this.suspect([hasha]);
        return true;
      }
      for (const { name, data_type: type, multi } of stored.allProperties) {
        if (type !== 'attachment') continue;
        const column = columnOf(stored, name);
        const found = multi
          ? sql`${column} @> ${JSON.stringify([{ hasha }])}::jsonb`
          : sql`${column} ->> 'hasha' = ${hasha}`;
        const { rows } = await sql`select 1 from ${tableOf(stored)} where ${found} limit 1`.execute(storage.db);
        if (rows.length > 0) return true;
      }
    }
    return false;
  }
}

function hasAttachments({ allProperties }: ResolvedClass): boolean {
  return allProperties.some(({ data_type: type }) => type === 'attachment');
}
