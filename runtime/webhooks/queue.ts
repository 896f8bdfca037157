/**
 * The queue of deliveries in the database. A delivery is claimed by one node for one attempt; a claim ends by itself, so that
 * those of a killed node go on.
 */
import { sql, type Storage } from '../storage/index.ts';
import type { DeliveryRow } from './deliveries.ts';
import { DAY_MS } from './back-off.ts';

/** Waiting deliveries of one webhook; further events are dropped. */
const MAX_WAITING = 10_000;
/** Deliveries of one webhook that are kept after their end. */
const MAX_KEPT = 10_000;
/** Milliseconds for which a finished delivery is kept. */
const KEEP_MS = 7 * DAY_MS;
/** Milliseconds after which the claim of a dead node ends; longer than an attempt. */
const CLAIM_MS = 60_000;

/** A delivery that is not in the database yet. */
export interface NewDelivery {
  readonly id: string;
  readonly webhookId: string;
  /** `class.type` */
  readonly event: string;
  readonly body: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
}

/** The end of an attempt. */
export interface Ended {
  readonly status: DeliveryRow['status'];
  /** Milliseconds since the epoch; undefined: no further attempt. */
  readonly due: number | undefined;
  readonly lastStatus: number | undefined;
  readonly lastError: string;
}

export class DeliveryQueue {
  readonly #db: Storage['db'];
  readonly #now: () => number;
  readonly #maxWaiting: number;

  constructor({ db }: Pick<Storage, 'db'>, now: () => number = Date.now, maxWaiting = MAX_WAITING) {
    this.#db = db;
    this.#now = now;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Adds deliveries; those already there stay as they are.
   *
   * @returns ids of those that are in the queue; the others are of removed webhooks, or of those with a full queue
   */
  async add(deliveries: readonly NewDelivery[]): Promise<ReadonlySet<string>> {
    const { rows } = await sql<{ id: string }>`
      insert into webhook_deliveries (id, webhook_id, event, body, status, created, expires, due)
      select e.id, e.webhook_id, e.event, e.body, 'waiting', e.created, e.created + ${DAY_MS}::bigint, e.created
      from unnest(
        ${deliveries.map(({ id }) => id)}::text[], ${deliveries.map(({ webhookId }) => webhookId)}::text[],
        ${deliveries.map(({ event }) => event)}::text[], ${deliveries.map(({ body }) => body)}::text[],
        ${deliveries.map(({ created }) => created)}::bigint[]
      ) e (id, webhook_id, event, body, created)
      join (
        select w.id, (
          select count(*) from (
            select 1 from webhook_deliveries d where d.webhook_id = w.id and d.status = 'waiting' limit ${this.#maxWaiting}
          ) waiting
        ) as waiting
        from webhooks w where w.id = any(${[...new Set(deliveries.map(({ webhookId }) => webhookId))]}::text[])
      ) w on w.id = e.webhook_id
      where w.waiting < ${this.#maxWaiting}
      on conflict (id) do update set id = excluded.id
      returning id`.execute(this.#db);
    return new Set(rows.map(({ id }) => id));
  }

  /** Adds a delivery that is claimed already, for one attempt by the caller. */
  async addClaimed({ id, webhookId, event, body, created }: NewDelivery): Promise<DeliveryRow> {
    const { rows } = await sql<DeliveryRow>`
      insert into webhook_deliveries (id, webhook_id, event, body, status, created, expires, due, claimed, attempts)
      values (${id}, ${webhookId}, ${event}, ${body}, 'waiting', ${created}, ${created}, ${created + CLAIM_MS}, true, 1)
      returning *`.execute(this.#db);
    return one(rows);
  }

  /** Claims due deliveries of a webhook, the longest due first; each attempt counts. */
  async claim(webhookId: string, limit: number): Promise<readonly DeliveryRow[]> {
    const now = this.#now();
    const { rows } = await sql<DeliveryRow>`
      update webhook_deliveries set claimed = true, due = ${now + CLAIM_MS}::bigint, attempts = attempts + 1
      where id in (
        select id from webhook_deliveries where webhook_id = ${webhookId} and status = 'waiting' and due <= ${now}::bigint
        order by due, id limit ${limit} for update skip locked
      )
      returning *`.execute(this.#db);
    return rows;
  }

  /** Stores the end of an attempt, unless the claim ended before. */
  async end(
    { id, attempts }: DeliveryRow,
    { status, due, lastStatus, lastError }: Ended,
  ): Promise<DeliveryRow | undefined> {
    const { rows } = await sql<DeliveryRow>`
      update webhook_deliveries set status = ${status}, claimed = false, due = ${due ?? null}::bigint,
        finished = ${due === undefined ? this.#now() : null}::bigint,
        last_status = ${lastStatus ?? null}::integer, last_error = ${lastError}
      where id = ${id} and claimed and attempts = ${attempts}
      returning *`.execute(this.#db);
    return rows[0];
  }

  /** Gives a claimed delivery back, as if there had been no attempt. */
  async release({ id, attempts }: DeliveryRow): Promise<void> {
    await sql`
      update webhook_deliveries set claimed = false, due = ${this.#now()}::bigint, attempts = attempts - 1
      where id = ${id} and claimed and attempts = ${attempts}`.execute(this.#db);
  }

  /** Ends the claims of nodes that do not run any more. */
  async releaseAll(): Promise<void> {
    await sql`
      update webhook_deliveries set claimed = false, due = ${this.#now()}::bigint
      where status = 'waiting' and claimed`.execute(this.#db);
  }

  /** When the next delivery of each webhook is due, in milliseconds since the epoch; webhooks without one are missing. */
  async due(webhookIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const { rows } = await sql<{ id: string; due: number | null }>`
      select w.id, (
        select min(d.due) from webhook_deliveries d where d.webhook_id = w.id and d.status = 'waiting'
      ) as due
      from unnest(${webhookIds}::text[]) w (id)`.execute(this.#db);
    return new Map(rows.flatMap(({ id, due }) => (due === null ? [] : [[id, due] as const])));
  }

  /** Makes the waiting deliveries of a webhook due now: its server is back. */
  async hurry(webhookId: string): Promise<void> {
    const now = this.#now();
    await sql`
      update webhook_deliveries set due = ${now}::bigint
      where webhook_id = ${webhookId} and status = 'waiting' and not claimed and due > ${now}::bigint`.execute(
      this.#db,
    );
  }

  /** Queues a delivery once more, for another day. One that is just being sent stays as it is. */
  async again(id: string): Promise<DeliveryRow | undefined> {
    const now = this.#now();
    const { rows } = await sql<DeliveryRow>`
      update webhook_deliveries set status = 'waiting', attempts = 0, due = ${now}::bigint,
        expires = ${now + DAY_MS}::bigint, finished = null
      where id = ${id} and not claimed returning *`.execute(this.#db);
    return rows[0];
  }

  /** Gives up the deliveries of webhooks that are over a day old, and removes old ones. */
  async sweep(webhookIds: readonly string[]): Promise<number> {
    const now = this.#now();
    const { rows } = await sql`
      update webhook_deliveries set status = 'failed', claimed = false, due = null, finished = ${now}::bigint,
        last_error = case last_error when '' then 'it was not delivered within a day' else last_error end
      where webhook_id = any(${webhookIds}::text[]) and status = 'waiting' and expires <= ${now - CLAIM_MS}::bigint
      returning 1 as one`.execute(this.#db);
    for (const id of webhookIds) {
      await sql`
        delete from webhook_deliveries d where d.webhook_id = ${id} and d.status <> 'waiting' and d.created < greatest(
          ${now - KEEP_MS}::bigint,
          (select created from webhook_deliveries where webhook_id = ${id} order by created desc offset ${MAX_KEPT} limit 1)
        )`.execute(this.#db);
    }
    return rows.length;
  }
}

function one<T>(rows: readonly T[]): T {
  const [row] = rows;
  if (row === undefined) throw new Error('The write of a delivery returned no row.');
  return row;
}
