/** States of webhooks in the database: written when they change, not for every delivery. */
import type { WebhookState } from '../domain/index.ts';
import { sql, type Storage } from '../storage/index.ts';
import type { Attempt } from './send.ts';

export class WebhookStates {
  readonly #db: Storage['db'];
  readonly #now: () => number;

  constructor({ db }: Pick<Storage, 'db'>, now: () => number = Date.now) {
    this.#db = db;
    this.#now = now;
  }

  /** @returns for how many milliseconds every attempt had failed before; 0: the one before succeeded, or there was none */
  async succeeded(id: string): Promise<number> {
    const now = this.#now();
    const state: WebhookState = { status: 'ok', since: now };
    const { rows } = await sql<{ status: string; since: number }>`
      update webhooks w set state = ${JSON.stringify(state)}::jsonb
      from (select id, state from webhooks where id = ${id} for update) before
      where w.id = before.id and before.state ->> 'status' <> 'ok'
      returning before.state ->> 'status' as status, (before.state ->> 'since')::bigint as since`.execute(this.#db);
    const [before] = rows;
    return before?.status === 'failing' ? now - before.since : 0;
  }

  /** @returns since when every attempt failed, in milliseconds since the epoch; undefined for a removed webhook */
  async failed(id: string, attempt: Attempt): Promise<number | undefined> {
    const { rows } = await sql<{ since: number }>`
      update webhooks set state = ${JSON.stringify({ status: 'failing', since: this.#now(), ...lastOf(attempt) })}::jsonb
        || case state ->> 'status' when 'failing' then jsonb_build_object('since', state -> 'since') else '{}'::jsonb end
      where id = ${id} returning (state ->> 'since')::bigint as since`.execute(this.#db);
    return rows[0]?.since;
  }

  async disabled(id: string, attempt: Attempt): Promise<void> {
    const state: WebhookState = { status: 'disabled', since: this.#now(), ...lastOf(attempt) };
    await sql`update webhooks set state = ${JSON.stringify(state)}::jsonb where id = ${id}`.execute(this.#db);
  }
}

function lastOf({ status, error }: Attempt): Pick<WebhookState, 'last_status' | 'last_error'> {
  return { ...(status !== undefined && { last_status: status }), last_error: error };
}
