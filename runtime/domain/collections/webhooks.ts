/** The collection of webhooks. */
import { randomBytes } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { sql } from '../../storage/index.ts';
import { InvalidFieldError } from '../errors.ts';
import type { CollectionDefinition } from './definition.ts';
import { Composite, Id, Label } from './fields.ts';

/** Bytes of a generated secret. */
const SECRET_BYTES = 32;
/** Webhooks of a domain: each is asked about each event. */
const MAX_OF_DOMAIN = 100;
/** Bytes that a secret may have (Standard Webhooks, "Signature scheme"). */
const FEWEST_BYTES = 24;
const MOST_BYTES = 64;
/** Milliseconds for which a replaced secret still signs. */
const FORMER_SECRET_MS = 24 * 3_600_000;

const Names = Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 64, uniqueItems: true });

const schema = Type.Object({
  id: Id,
  domain_id: Id,
  name: Label,
  /** HTTPS; plain HTTP only to networks that the operator allows. */
  url: Type.String({
    pattern: '^https?://[!-~]{1,2040}$',
    description: 'a URL with https',
  }),
  enabled: Type.Boolean(),
  /** The selection of events, as in a subscription. */
  events: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { minItems: 1, maxItems: 64, uniqueItems: true }),
  objects: Names,
  classpath: Type.String({ maxLength: 256 }),
  exargs: Type.Object(
    { mask: Type.Optional(Type.String({ maxLength: 4_096 })), filter: Type.Optional(Type.Unknown()) },
    { additionalProperties: false },
  ),
  /** Signs the deliveries: `whsec_` and base64. Absent or null: a new one is generated. */
  secret: Type.Optional(
    Type.Union([
      Type.String({
        pattern: '^whsec_[A-Za-z0-9+/]{32,86}={0,2}$',
        description: 'whsec_ and the base64 of 24 to 64 bytes',
      }),
      Type.Null(),
    ]),
  ),
  opts: Composite,
  ext: Composite,
});

const State = Type.Object({
  status: Type.Enum(['new', 'ok', 'failing', 'disabled'], {
    description: '`disabled`: by the node, because every delivery failed for a day or the server answered 410',
  }),
  since: Type.Integer({ description: 'Milliseconds since the epoch' }),
  last_status: Type.Optional(Type.Integer({ description: 'HTTP status of the last failed attempt' })),
  last_error: Type.Optional(Type.String()),
});
export type WebhookState = Static<typeof State>;

/** A secret, valid until a time in milliseconds since the epoch; null: without end. */
export interface WebhookSecret {
  readonly secret: string;
  readonly until: number | null;
}

export type WebhookRow = Omit<Static<typeof schema>, 'secret'> & {
  /** The present one first. */
  readonly secrets: readonly WebhookSecret[];
  readonly state: WebhookState;
};

/** Checks what depends on the node: the URL and the selection of events. */
export type CheckWebhook = (
  webhook: Pick<WebhookRow, 'url' | 'events' | 'objects' | 'classpath' | 'exargs'>,
) => { readonly field: string; readonly reason: string; readonly found?: unknown } | undefined;

/** @param now milliseconds since the epoch */
export function webhooks(check: CheckWebhook, now: () => number = Date.now): CollectionDefinition {
  return {
    entity: 'webhook',
    table: 'webhooks',
    schema,
    readOnly: { state: State },
    defaults: { name: '', enabled: true, objects: [], classpath: '', exargs: {}, opts: {}, ext: {} },
    composites: ['opts', 'ext'],
    json: ['events', 'objects', 'exargs', 'secrets', 'state'],
    writeOnly: ['secret'],
    hidden: ['secrets', 'state'],
    constraints: { webhooks_domain_id_fkey: 'domain_id' },
    derive(entity, before) {
      const webhook = entity as WebhookRow & { readonly secret?: string | null };
      const problem = check(webhook);
      if (problem !== undefined) throw new InvalidFieldError('webhook', problem.field, problem.reason, problem.found);
      const { secret, enabled } = webhook;
      if (typeof secret === 'string') checkSecret(secret);
      const former = before as WebhookRow | undefined;
      const isEnabledAgain = former?.enabled === false && enabled;
      return Promise.resolve({
        ...((former === undefined || secret !== undefined) && {
          secrets: replacedSecrets(former?.secrets ?? [], secret ?? newSecret(), now()),
        }),
        ...((former === undefined || isEnabledAgain) && { state: { status: 'new', since: now() } }),
      });
    },
    async record(after, before, db) {
      const domainId = (after as WebhookRow).domain_id;
      if (before?.['domain_id'] === domainId) return;
      const { rows } = await sql<{ count: number }>`
        select count(*) as count from webhooks where domain_id = ${domainId}`.execute(db);
      if ((rows[0]?.count ?? 0) > MAX_OF_DOMAIN)
        throw new InvalidFieldError('webhook', 'domain_id', `has ${MAX_OF_DOMAIN} webhooks, which is the limit`);
    },
  };
}

function newSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}

function checkSecret(secret: string): void {
  const base64 = secret.slice('whsec_'.length);
  const bytes = Buffer.from(base64, 'base64');
  const isWhole = bytes.toString('base64').replace(/=+$/, '') === base64.replace(/=+$/, '');
  if (isWhole && bytes.length >= FEWEST_BYTES && bytes.length <= MOST_BYTES) return;
  throw new InvalidFieldError('webhook', 'secret', 'must be whsec_ and the base64 of 24 to 64 bytes');
}

/** The former secret stays valid for a day; an older one ends. */
function replacedSecrets(former: readonly WebhookSecret[], secret: string, now: number): readonly WebhookSecret[] {
  const [current] = former;
  const kept = current === undefined || current.secret === secret ? former.slice(1) : [current];
  const valid = kept
    .map((each) => ({ ...each, until: each.until ?? now + FORMER_SECRET_MS }))
    .filter(({ until }) => until > now);
  return [{ secret, until: null }, ...valid];
}
