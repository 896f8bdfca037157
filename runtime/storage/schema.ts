/**
 * The tables, as kysely sees them. A row is the entity as REST shows it (snake case), plus columns that never leave the
 * node (password and digest hashes). Migrations create exactly this.
 */
import type { ColumnType } from 'kysely';

/** A composite field (jsonb object). It is written as JSON text: an object given to a driver could be taken for an array. */
export type Composite = ColumnType<Record<string, unknown>, string, string>;
type JsonList<T> = ColumnType<readonly T[], string, string>;

export interface DomainsTable {
  id: string;
  name: string;
  is_master: boolean;
  parent_id: string | null;
  opts: Composite;
  ext: Composite;
  lic: Composite;
  security: Composite;
}

export interface UsersTable {
  id: string;
  domain_id: string;
  login: string;
  name: string;
  /** PHC string. */
  password: string;
  /** Codes of roles. */
  roles: JsonList<string>;
  /** Ids of further domains that the user may work in. */
  domains: JsonList<string>;
  tags: JsonList<string>;
  opts: Composite;
  ext: Composite;
  lic: Composite;
  security: Composite;
}

export interface RolesTable {
  id: string;
  domain_id: string;
  code: string;
  name: string;
  grants: JsonList<{ path: string; methods: readonly string[] }>;
  opts: Composite;
  ext: Composite;
}

export interface SessionsTable {
  id: string;
  /** SHA-256 of the secret, base64url. */
  token_hash: string;
  user_id: string;
  domain_id: string;
  kind: 'cookie' | 'token';
  /** Milliseconds since the epoch. */
  created: number;
  /** Milliseconds since the epoch; an ended session has its end here. */
  expires: number;
}

export interface SipUsersTable {
  id: string;
  domain_id: string;
  login: string;
  phonenumber: string;
  name: string;
  user_id: string | null;
  ha1_md5: string;
  ha1_sha256: string;
  opts: Composite;
  ext: Composite;
  lic: Composite;
  security: Composite;
}

export interface FeatureCodesTable {
  id: string;
  domain_id: string;
  prefix: string;
  type: string;
  opts: Composite;
  ext: Composite;
}

export interface RoutesTable {
  id: string;
  domain_id: string;
  /** Lower is tried first. */
  priority: number;
  from_pattern: string;
  to_pattern: string;
  target: Composite;
  opts: Composite;
  ext: Composite;
}

export interface RegistrationsTable {
  sipuser_id: string;
  contact: string;
  call_id: string;
  cseq: number;
  protocol: 'udp' | 'tcp';
  address: string;
  port: number;
  /** Milliseconds since the epoch. */
  saved: number;
  /** Milliseconds since the epoch. */
  expires: number;
  user_agent: string | null;
  allow_events: JsonList<string>;
}

export interface SettingsTable {
  id: string;
  domain_id: string;
  key: string;
  value: ColumnType<unknown, string, string>;
  opts: Composite;
  ext: Composite;
}

export interface WebAppsTable {
  id: string;
  domain_id: string;
  name: string;
  description: string;
  order: number;
  icon: string;
  'fa-icon': string;
  url: string;
  /** Codes of the roles that may use it; empty: every user. */
  roles: JsonList<string>;
  opts: Composite;
  ext: Composite;
}

export interface Schema {
  domains: DomainsTable;
  users: UsersTable;
  roles: RolesTable;
  sessions: SessionsTable;
  sipusers: SipUsersTable;
  featurecodes: FeatureCodesTable;
  routes: RoutesTable;
  registrations: RegistrationsTable;
  settings: SettingsTable;
  webapps: WebAppsTable;
}
