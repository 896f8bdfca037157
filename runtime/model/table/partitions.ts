/** Partitions of history and transactionlog: one a day or a month, UTC, named `YYYY-MM-DD` or `YYYY-MM`. */
import type { Kysely } from 'kysely';
import { type Schema, sql } from '../../storage/index.ts';
import { InvalidFieldError, NotFoundError } from '../errors.ts';
import type { Fragment } from '../filter/index.ts';
import { DAY_MS, type Interval } from '../query.ts';
import { timeProperty } from '../resolve-class.ts';
import type { StoredClass } from '../stored-class.ts';
import { columnOf, partitionPrefix, SCHEMA, tableName, tableOf } from './names.ts';

type Db = Kysely<Schema>;

/** A time outside of these years is a mistake, such as seconds for milliseconds. */
const FIRST = Date.UTC(1970, 0, 1);
const END = Date.UTC(3000, 0, 1);

/** Name and bounds of the partition of a time. @throws InvalidFieldError */
function partitionAt(stored: StoredClass, time: unknown): Interval & { readonly name: string } {
  if (typeof time !== 'number' || time < FIRST || time >= END) {
    throw new InvalidFieldError(
      timeProperty(stored),
      'must be milliseconds since the epoch, before the year 3000',
      time,
    );
  }
  const date = new Date(time);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  const iso = date.toISOString();
  return stored.opts.partition_interval === 'day'
    ? { name: iso.slice(0, 10), from: Date.UTC(year, month, day), to: Date.UTC(year, month, day + 1) }
    : { name: iso.slice(0, 7), from: Date.UTC(year, month), to: Date.UTC(year, month + 1) };
}

function tableOfPartition(stored: StoredClass, name: string): Fragment {
  return sql.id(SCHEMA, partitionPrefix(stored) + name.replaceAll('-', ''));
}

/**
 * Makes ids unique per day. The primary key cannot, because it contains the time; but a day lies within one partition,
 * and each partition has its own index. It also serves look-ups by id.
 */
function dayIndexName(stored: StoredClass, name: string): string {
  return `d_${stored.number}_${name.replaceAll('-', '')}`;
}

export class Partitions {
  readonly #known = new Set<string>();

  /** Creates the partition of a time if missing. */
  async ensure(db: Db, stored: StoredClass, time: unknown): Promise<void> {
    const { name, from, to } = partitionAt(stored, time);
    if (this.#known.has(name)) return;
    await db.transaction().execute(async (tx) => {
      // Another node may be creating it.
      await sql`select pg_advisory_xact_lock(hashtext(${`model partition ${stored.number}`}))`.execute(tx);
      await sql`
        create table if not exists ${tableOfPartition(stored, name)} partition of ${tableOf(stored)}
        for values from (${sql.number(from)}) to (${sql.number(to)})`.execute(tx);
      await sql`
        create unique index if not exists ${sql.id(dayIndexName(stored, name))} on ${tableOfPartition(stored, name)}
        (id, (${columnOf(stored, timeProperty(stored))} / ${sql.number(DAY_MS)}))`.execute(tx);
    });
    this.#known.add(name);
  }

  /** Repeats an insert that found no partition: another node may have dropped it. */
  forget(): void {
    this.#known.clear();
  }

  async list(db: Db, stored: StoredClass): Promise<readonly string[]> {
    const { rows } = await sql<{ table: string }>`
      select c.relname as table from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = ${`${SCHEMA}.${tableName(stored)}`}::regclass`.execute(db);
    return rows
      .map(({ table }) => table.slice(partitionPrefix(stored).length).replaceAll(/(?<=^\d{4})|(?<=^\d{6})(?!$)/g, '-'))
      .toSorted();
  }

  /** @throws NotFoundError */
  async drop(db: Db, stored: StoredClass, name: string): Promise<void> {
    const names = await this.list(db, stored);
    if (!names.includes(name)) throw new NotFoundError('Partition', name);
    this.#known.delete(name);
    await sql`drop table if exists ${tableOfPartition(stored, name)}`.execute(db);
  }

  /** Drops partitions that ended more than `store_days` ago. Returns their names. */
  async expire(db: Db, stored: StoredClass, now: number): Promise<readonly string[]> {
    const { store_days: days } = stored.opts;
    if (days === 0) return [];
    const expired = (await this.list(db, stored)).filter((name) => {
      const { to } = partitionAt(stored, Date.parse(name.length === 7 ? `${name}-01` : name));
      return to <= now - days * DAY_MS;
    });
    for (const name of expired) await this.drop(db, stored, name);
    return expired;
  }
}
