import { sql } from 'kysely';
import { type Model, type ModelChange, type ModelCollection, openModel } from '../../../runtime/model/index.ts';
import type { FileStore } from '../../../runtime/storage/files/index.ts';
import type { Storage } from '../../../runtime/storage/index.ts';

export const DOMAIN = 'd1';

const unused = async (): Promise<never> => Promise.reject(new Error('This model has no files.'));
/** For tests without attachments. */
export const NO_FILES: FileStore = {
  receive: unused,
  keep: unused,
  discard: unused,
  read: unused,
  remove: unused,
  tidy: async () => {},
  link: () => '',
  place: unused,
};

export interface TestModel {
  readonly model: Model;
  /** What listeners were told, oldest first. */
  readonly changes: ModelChange[];
  /** The clock, milliseconds since the epoch. */
  time: number;
  /** Makes a class and gives its collection. */
  collection(settings: Readonly<Record<string, unknown>>): Promise<ModelCollection>;
}

/** A model without classes, on a storage that other tests may have used. */
export async function emptyModel(storage: Storage): Promise<TestModel> {
  await removeClasses(storage);
  const changes: ModelChange[] = [];
  const test: TestModel = {
    model: await openModel(storage, { now: () => test.time, files: NO_FILES }),
    changes,
    time: Date.UTC(2026, 10, 21, 12),
    async collection(settings) {
      const { classname } = await test.model.classes(DOMAIN).create({ storage_mode: 'category', ...settings });
      return test.model.collection(DOMAIN, classname);
    },
  };
  test.model.onChange((change) => changes.push(change));
  return test;
}

/** Drops the tables of all classes: the storage is shared with tests that look at all tables. */
export async function removeClasses({ db }: Storage): Promise<void> {
  const { rows } = await sql<{ name: string; kind: string }>`
    select relname as name, relkind as kind from pg_class
    where relnamespace = 'model'::regnamespace and relkind in ('r', 'p', 'S') and not relispartition`.execute(db);
  for (const { name, kind } of rows.toSorted((a, b) => (a.kind === 'S' ? 1 : 0) - (b.kind === 'S' ? 1 : 0))) {
    await sql`drop ${sql.raw(kind === 'S' ? 'sequence' : 'table')} ${sql.id('model', name)}`.execute(db);
  }
  await sql`truncate model_classes`.execute(db);
}
