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
  /** May not log in. */
  locked: boolean;
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
  sip_server: string | null;
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

export interface ProvidersTable {
  id: string;
  domain_id: string;
  code: string;
  name: string;
  enabled: boolean;
  host: string;
  port: number;
  transport: string;
  register: string;
  /** Seconds. */
  register_expires: number;
  login: string;
  auth_user: string;
  /** The password itself: a digest client needs it. */
  secret: string;
  from_domain: string;
  addresses: JsonList<string>;
  numbers: JsonList<string>;
  mapping: Composite;
  max_calls: number;
  opts: Composite;
  ext: Composite;
}

export interface RecordingRulesTable {
  id: string;
  domain_id: string;
  name: string;
  enabled: boolean;
  /** Lower is looked at first. */
  priority: number;
  sipuser_id: string | null;
  direction: string;
  number_pattern: string;
  record: boolean;
  storage: string;
  permit_pause: boolean;
  opts: Composite;
  ext: Composite;
}

/** Scenarios as entities: `ivrscripts` run for calls, `svcscripts` without one. */
export interface ScriptsTable {
  id: string;
  domain_id: string;
  code: string;
  name: string;
  scriptdata: Composite;
  /** Number of the version that `scriptdata` is. */
  version: number;
  /** What new runs get. */
  serving: Composite;
  /** Mistakes in `scriptdata`. */
  problems: JsonList<object>;
  opts: Composite;
  ext: Composite;
}

/** Every text that a script ever had. */
export interface ScriptVersionsTable {
  script_id: string;
  number: number;
  scriptdata: Composite;
  problems: JsonList<object>;
  /** Milliseconds since the epoch. */
  created: number;
}

/** The index of recorded calls. */
export interface RecordingsTable {
  id: string;
  domain_id: string;
  /** Name of the domain at the time. */
  domain: string;
  idconn: string;
  inviteid: string;
  dialogid: string;
  /** Empty: the main recording. */
  layer: string;
  /** Empty: no rule, but an operation. */
  rule_id: string;
  storage: string;
  status: 'recording' | 'saved' | 'failed';
  reason: string;
  /** Milliseconds since the epoch. */
  startts: number;
  endts: number;
  /** Milliseconds of sound. */
  length: number;
  /** Octets. */
  size: number;
  sha256: string;
  reclink: string;
  parties: JsonList<object>;
  /** Whether it is transcribed as soon as it is complete. */
  transcribe: boolean;
  asr_status: '' | 'queued' | 'running' | 'done' | 'failed';
  /** Milliseconds since the epoch of its latest asr_status. */
  asr_since: number;
  transcript: Composite;
  node: string;
}

export interface FirstAnswersTable {
  user_id: string;
  key: string;
  fingerprint: string;
  /** Null while the first request is not answered. */
  answer: Composite | null;
  /** Milliseconds since the epoch. */
  expires: number;
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
  providers: ProvidersTable;
  recordingrules: RecordingRulesTable;
  recordings: RecordingsTable;
  ivrscripts: ScriptsTable;
  ivrscript_versions: ScriptVersionsTable;
  svcscripts: ScriptsTable;
  svcscript_versions: ScriptVersionsTable;
  first_answers: FirstAnswersTable;
}
