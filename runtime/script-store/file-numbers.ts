/** Counts the versions of scenario files in the database: a text has the same number on all its nodes, also after a restart. */
import { sql } from 'kysely';
import type { VersionNumbers } from '../runs/index.ts';
import type { Storage } from '../storage/index.ts';

/** Attempts when other nodes count versions of the same scenario at the same time. */
const ATTEMPTS = 20;

export class FileNumbers implements VersionNumbers {
  readonly #storage: Pick<Storage, 'db' | 'log'>;
  readonly #known: Map<string, number>;

  private constructor(storage: Pick<Storage, 'db' | 'log'>, known: Map<string, number>) {
    this.#storage = storage;
    this.#known = known;
  }

  static async open(storage: Pick<Storage, 'db' | 'log'>): Promise<FileNumbers> {
    const rows = await storage.db.selectFrom('scenario_file_versions').select(['scenario', 'number', 'hash']).execute();
    return new FileNumbers(storage, new Map(rows.map((row) => [key(row.scenario, row.hash), row.number])));
  }

  async of(scenario: string, hash: string): Promise<number | undefined> {
    const known = this.#known.get(key(scenario, hash));
    if (known !== undefined) return known;
    try {
      const number = await this.#count(scenario, hash);
      if (number !== undefined) this.#known.set(key(scenario, hash), number);
      return number;
    } catch (err) {
      const message = 'the version of a scenario file could not be counted: it has no number until the next start';
      this.#storage.log.warn({ err, scenario, hash }, message);
      return undefined;
    }
  }

  async #count(scenario: string, hash: string): Promise<number | undefined> {
    const { db } = this.#storage;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      await sql`
        insert into scenario_file_versions (scenario, number, hash, created)
        select ${scenario}, coalesce(max(number), 0) + 1, ${hash}, ${Date.now()}::bigint
        from scenario_file_versions where scenario = ${scenario}
        on conflict do nothing`.execute(db);
      const row = await db
        .selectFrom('scenario_file_versions')
        .select('number')
        .where('scenario', '=', scenario)
        .where('hash', '=', hash)
        .executeTakeFirst();
      // Another node took the number for another text.
      if (row !== undefined) return row.number;
    }
    throw new Error(`other nodes took the number ${ATTEMPTS} times`);
  }
}

function key(scenario: string, hash: string): string {
  return `${scenario} ${hash}`;
}
