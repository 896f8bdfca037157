/** Reads and writes the table `registrations`, many rows per statement. */
import { sql } from 'kysely';
import type { Storage } from '../../storage/index.ts';
import type { BindingKey, StoredBinding } from './contact-table.ts';

export async function loadBindings(storage: Storage, now: number): Promise<readonly StoredBinding[]> {
  const rows = await storage.db
    .selectFrom('registrations')
    .selectAll()
    .where('expires', '>', now)
    .orderBy('saved')
    .execute();
  return rows.map((row) => ({
    sipUserId: row.sipuser_id,
    contact: row.contact,
    callId: row.call_id,
    cseq: row.cseq,
    source: { protocol: row.protocol, address: row.address, port: row.port },
    since: row.since,
    saved: row.saved,
    expires: row.expires,
    userAgent: row.user_agent ?? undefined,
    allowEvents: row.allow_events,
    server: row.sip_server ?? undefined,
    path: row.path,
    instance: row.instance ?? undefined,
    regId: row.reg_id ?? undefined,
  }));
}

/** Skips removed accounts: their registrations were removed with them. */
export async function writeBindings(storage: Storage, bindings: readonly StoredBinding[]): Promise<void> {
  const rows = bindings.map((binding) => ({
    sipuser_id: binding.sipUserId,
    contact: binding.contact,
    call_id: binding.callId,
    cseq: binding.cseq,
    ...binding.source,
    since: binding.since,
    saved: binding.saved,
    expires: binding.expires,
    user_agent: binding.userAgent ?? null,
    allow_events: binding.allowEvents,
    sip_server: binding.server ?? null,
    path: binding.path ?? [],
    instance: binding.instance ?? null,
    reg_id: binding.regId ?? null,
  }));
  await sql`
    insert into registrations
      (sipuser_id, contact, call_id, cseq, protocol, address, port, since, saved, expires, user_agent,
       allow_events, sip_server, path, instance, reg_id)
    select r.sipuser_id, r.contact, r.call_id, r.cseq, r.protocol, r.address, r.port, r.since, r.saved, r.expires,
      r.user_agent, r.allow_events, r.sip_server, r.path, r.instance, r.reg_id
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(
      sipuser_id text, contact text, call_id text, cseq bigint, protocol text, address text, port integer,
      since bigint, saved bigint, expires bigint, user_agent text, allow_events jsonb, sip_server text,
      path jsonb, instance text, reg_id integer)
    where exists (select 1 from sipusers where id = r.sipuser_id)
      or exists (select 1 from providers where id = r.sipuser_id)
    on conflict (sipuser_id, contact) do update set
      call_id = excluded.call_id, cseq = excluded.cseq, protocol = excluded.protocol, address = excluded.address,
      port = excluded.port, saved = excluded.saved, expires = excluded.expires, user_agent = excluded.user_agent,
      allow_events = excluded.allow_events, sip_server = excluded.sip_server, path = excluded.path,
      instance = excluded.instance, reg_id = excluded.reg_id`.execute(storage.db);
}

export async function deleteBindings(storage: Storage, keys: readonly BindingKey[]): Promise<void> {
  await sql`
    delete from registrations using jsonb_to_recordset(${JSON.stringify(keys)}::jsonb) as k("sipUserId" text, contact text)
    where registrations.sipuser_id = k."sipUserId" and registrations.contact = k.contact`.execute(storage.db);
}
