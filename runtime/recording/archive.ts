/** The index of recordings. */
import type { Kysely, Selectable } from 'kysely';
import { type DomainName, domainKey } from '../domain-name/index.ts';
import { filters } from '../model/index.ts';
import { type RecordingsTable, type Schema, sql, type Storage } from '../storage/index.ts';
import { IndexWrites } from './index-writes.ts';
import { RECORD_COLUMNS, RECORD_TYPES } from './record-fields.ts';

export type RecordRow = Selectable<RecordingsTable>;

export type AsrStatus = RecordRow['asr_status'];

/** Outcome of a recording with a complete file. */
export type RecordEnd = Pick<RecordRow, 'status' | 'reason' | 'endts' | 'length' | 'size' | 'sha256' | 'reclink'>;

export interface RecordQuery {
  /** Ids of the domains whose recordings are visible. */
  readonly domains: readonly string[];
  /** Filter as an object or in prefix notation. */
  readonly filter?: unknown;
  readonly order?: unknown;
  readonly offset?: number;
  readonly limit?: number;
}

/** Default and maximum number of entities in a list. */
export const MAX_LIST = 1000;

/** The index. Its writes wait while the database is away; errors of reading are those of the storage. */
export class RecordArchive {
  readonly #db: Kysely<Schema>;
  readonly #writes = new IndexWrites();

  constructor(storage: Storage) {
    this.#db = storage.db;
  }

  add(row: RecordRow): Promise<void> {
    const insert = this.#db
      .insertInto('recordings')
      .values({ ...row, parties: JSON.stringify(row.parties), transcript: JSON.stringify(row.transcript) })
      .onConflict((conflict) => conflict.column('id').doNothing());
    return this.#writes.do(() => insert.execute());
  }

  finish(id: string, end: RecordEnd): Promise<void> {
    return this.#writes.do(() => this.#db.updateTable('recordings').set(end).where('id', '=', id).execute());
  }

  /** Writes what waits, for up to two seconds. @returns number of lost writes */
  close(): Promise<number> {
    return this.#writes.close();
  }

  /** Adds parties that were unknown at the beginning of a recording. */
  setParties(id: string, parties: readonly object[]): Promise<void> {
    const update = this.#db
      .updateTable('recordings')
      .set({ parties: JSON.stringify(parties) })
      .where('id', '=', id);
    return this.#writes.do(() => update.execute());
  }

  /** Recordings of this node that were never ended, because it was killed. */
  async unfinished(node: string): Promise<readonly RecordRow[]> {
    return await this.#db
      .selectFrom('recordings')
      .selectAll()
      .where('status', '=', 'recording')
      .where('node', '=', node)
      .execute();
  }

  async read(id: string): Promise<RecordRow | undefined> {
    return await this.#db.selectFrom('recordings').selectAll().where('id', '=', id).executeTakeFirst();
  }

  /** The saved recording of a connection at a location. */
  async find(domain: DomainName, idconn: string, reclink: string): Promise<RecordRow | undefined> {
    return await this.#db
      .selectFrom('recordings')
      .selectAll()
      .where('idconn', '=', idconn)
      .where('reclink', '=', reclink)
      .where('status', '=', 'saved')
      .where(({ fn }) => fn('lower', ['domain']), '=', domainKey(domain))
      .executeTakeFirst();
  }

  /** The saved recording at a location. */
  async findByLink(domain: DomainName, reclink: string): Promise<RecordRow | undefined> {
    const id = /([A-Za-z0-9-]+)\.wav$/.exec(reclink)?.[1];
    const row = id === undefined ? undefined : await this.read(id);
    return row?.reclink === reclink && domainKey(row.domain) === domainKey(domain) ? row : undefined;
  }

  /**
   * One page, newest first by default.
   * @throws BadParameterError for an invalid filter or order
   */
  async list(query: RecordQuery): Promise<readonly RecordRow[]> {
    const { where, order } = this.#parsed(query);
    const limit = Math.min(query.limit ?? MAX_LIST, MAX_LIST);
    const { rows } = await sql<RecordRow>`
      select * from recordings where ${where} order by ${order} limit ${limit} offset ${query.offset ?? 0}`.execute(
      this.#db,
    );
    return rows;
  }

  /** @throws BadParameterError */
  async count(query: RecordQuery): Promise<number> {
    const { where } = this.#parsed(query);
    const { rows } = await sql<{ count: number }>`select count(*) as count from recordings where ${where}`.execute(
      this.#db,
    );
    return rows[0]?.count ?? 0;
  }

  /**
   * Ids of the recordings of these calls, with the call and the domain that they belong to.
   * @throws StorageUnavailableError while entries wait for the database
   */
  async ofCalls(
    inviteids: readonly string[],
  ): Promise<readonly { readonly id: string; readonly call: string; readonly domainId: string }[]> {
    await this.#writes.caughtUp();
    return await this.#db
      .selectFrom('recordings')
      .select(['id', 'idconn as call', 'domain_id as domainId'])
      .where('idconn', 'in', inviteids)
      .orderBy('startts')
      .execute();
  }

  remove(id: string): Promise<void> {
    return this.#writes.do(() => this.#db.deleteFrom('recordings').where('id', '=', id).execute());
  }

  setTranscript(id: string, status: AsrStatus, transcript: Readonly<Record<string, unknown>>): Promise<void> {
    const update = this.#db
      .updateTable('recordings')
      .set({ asr_status: status, asr_since: Date.now(), transcript: JSON.stringify(transcript) })
      .where('id', '=', id);
    return this.#writes.do(() => update.execute());
  }

  /** Pending transcriptions, the longest-waiting first. */
  async pendingTranscripts(node: string): Promise<readonly RecordRow[]> {
    return await this.#db
      .selectFrom('recordings')
      .selectAll()
      .where('asr_status', 'in', ['queued', 'running'])
      .where('node', '=', node)
      .orderBy('asr_since')
      .orderBy('id')
      .execute();
  }

  #parsed({ domains, filter, order }: RecordQuery): { where: filters.Fragment; order: filters.Fragment } {
    const context = { fields: RECORD_TYPES, now: Date.now() };
    const compiler = new filters.SqlCompiler(RECORD_COLUMNS);
    const visible = sql`domain_id = any(${domains}::text[])`;
    const conditions = [
      visible,
      ...(filter === undefined
        ? []
        : [compiler.condition(filters.parseFilter(new filters.ExpressionParser(context), filter))]),
    ];
    const wanted =
      order === undefined
        ? [sql`startts desc`]
        : filters.orderToSql(compiler, filters.parseOrder(new filters.ExpressionParser(context), order));
    // The id makes the order total: pages neither overlap nor have gaps.
    return { where: filters.allOf(conditions), order: sql.join([...wanted, sql`id`]) };
  }
}
