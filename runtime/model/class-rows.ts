/** Reads and writes the table `model_classes`. */
import type { Kysely } from 'kysely';
import { type Schema, sql, SqlError, SQLSTATE } from '../storage/index.ts';
import type { ClassDefinition } from './class-definition.ts';
import { ConflictError } from './errors.ts';

type Db = Kysely<Schema>;

export interface ClassRow extends ClassDefinition {
  readonly number: number;
  readonly columns: Readonly<Record<string, number>>;
  readonly next_column: number;
  readonly shape: number;
  readonly version: number;
}

export async function loadClasses(db: Db): Promise<readonly ClassRow[]> {
  const { rows } = await sql<ClassRow>`select * from model_classes order by number`.execute(db);
  return rows;
}

/** @throws ConflictError */
export async function insertClass(db: Db, row: Omit<ClassRow, 'number'>): Promise<number> {
  const { rows } = await guarded(() =>
    sql<{ number: number }>`
      insert into model_classes (id, domain_id, classname, name, description, parent_id, storage_mode, properties, opts,
        ext, columns, next_column, shape, version)
      values (${row.id}, ${row.domain_id}, ${row.classname}, ${row.name}, ${row.description}, ${row.parent_id},
        ${row.storage_mode}, ${JSON.stringify(row.properties)}::jsonb, ${JSON.stringify(row.opts)}::jsonb,
        ${JSON.stringify(row.ext)}::jsonb, ${JSON.stringify(row.columns)}::jsonb, ${row.next_column}, ${row.shape},
        ${row.version})
      returning number`.execute(db),
  );
  return rows[0]?.number ?? 0;
}

/** @throws ConflictError */
export async function updateClass(db: Db, row: ClassRow): Promise<void> {
  await guarded(() =>
    sql`
      update model_classes set classname = ${row.classname}, name = ${row.name}, description = ${row.description},
        parent_id = ${row.parent_id}, storage_mode = ${row.storage_mode},
        properties = ${JSON.stringify(row.properties)}::jsonb, opts = ${JSON.stringify(row.opts)}::jsonb,
        ext = ${JSON.stringify(row.ext)}::jsonb, columns = ${JSON.stringify(row.columns)}::jsonb,
        next_column = ${row.next_column}, shape = ${row.shape}, version = ${row.version}
      where id = ${row.id}`.execute(db),
  );
}

export async function deleteClass(db: Db, id: string): Promise<void> {
  await sql`delete from model_classes where id = ${id}`.execute(db);
}

async function guarded<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof SqlError) || error.code !== SQLSTATE.uniqueViolation) throw error;
    throw new ConflictError(error.constraint === 'model_classes_classname_key' ? 'classname' : 'id', { cause: error });
  }
}
