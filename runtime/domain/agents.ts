/** The stored agents of queues. */
import { sql } from 'kysely';
import type { Storage } from '../storage/index.ts';
import { WriteBehind } from './location/write-behind.ts';

/** A stored agent. */
export interface AgentRow {
  readonly domain_id: string;
  readonly number: string;
  readonly state: 'ready' | 'away';
  readonly queues: readonly string[];
  readonly skills: readonly string[];
}

type AgentKey = Pick<AgentRow, 'domain_id' | 'number'>;

/** Stores agents for the next start, and tries again while the database is away. */
export class StoredAgents {
  readonly #storage: Storage;
  /** Changes that are not written yet; undefined: removed. */
  readonly #changed = new Map<string, AgentRow | undefined>();
  readonly #writes: WriteBehind<AgentKey>;

  constructor(storage: Storage) {
    this.#storage = storage;
    this.#writes = new WriteBehind<AgentKey>({
      write: (keys) => this.#write(keys),
      onError: (err, keys) => storage.log.error({ err, keys }, 'agents not stored, trying again'),
    });
  }

  async load(): Promise<readonly AgentRow[]> {
    return (await sql<AgentRow>`select * from agents`.execute(this.#storage.db)).rows;
  }

  /** Resolves when the agent is stored, or after a second when the database is slow. @param row undefined: remove it */
  async save({ domain_id, number }: AgentKey, row: AgentRow | undefined): Promise<void> {
    const key = `${domain_id} ${number}`;
    this.#changed.set(key, row);
    await this.#writes.mark([[key, { domain_id, number }]]);
  }

  /** Writes pending changes; the storage must still be open. */
  close(): Promise<void> {
    return this.#writes.close();
  }

  async #write(keys: readonly AgentKey[]): Promise<void> {
    const { db } = this.#storage;
    for (const { domain_id, number } of keys) {
      const key = `${domain_id} ${number}`;
      const row = this.#changed.get(key);
      if (row === undefined)
        await sql`delete from agents where domain_id = ${domain_id} and number = ${number}`.execute(db);
      else {
        const [queues, skills] = [JSON.stringify(row.queues), JSON.stringify(row.skills)];
        // A domain that was removed meanwhile has no agents.
        await sql`
          insert into agents (domain_id, number, state, queues, skills)
          select id, ${number}, ${row.state}, ${queues}::jsonb, ${skills}::jsonb from domains where id = ${domain_id}
          on conflict (domain_id, number)
            do update set state = excluded.state, queues = excluded.queues, skills = excluded.skills`.execute(db);
      }
      if (this.#changed.get(key) === row) this.#changed.delete(key);
    }
  }
}
