/**
 * The tables as kysely types. A row is the entity as REST shows it (snake case), plus internal columns (password and
 * digest hashes). Migrations create exactly this.
 */
import type { ColumnType } from 'kysely';

/** A composite field (jsonb object), written as JSON text: a driver could take an object for an array. */
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
  /** Role codes. */
  roles: JsonList<string>;
  /** Ids of further domains permitted to the user. */
  domains: JsonList<string>;
  tags: JsonList<string>;
  /** True: the user may not log in. */
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
  /** Milliseconds since the epoch; for an ended session, the time of its end. */
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
  protocol: 'udp' | 'tcp' | 'tls' | 'ws' | 'wss';
  address: string;
  port: number;
  /** The first and the last REGISTER of the contact, milliseconds since the epoch. */
  since: number;
  saved: number;
  /** Milliseconds since the epoch. */
  expires: number;
  user_agent: string | null;
  sip_server: string | null;
  allow_events: JsonList<string>;
  /** Values of Path, the nearest proxy first. */
  path: JsonList<string>;
  instance: string | null;
  reg_id: number | null;
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
  /** Codes of the permitted roles; empty: every user. */
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
  /** The password itself: digest authentication as a client needs it. */
  secret: string;
  from_domain: string;
  addresses: JsonList<string>;
  numbers: JsonList<string>;
  mapping: Composite;
  gateways: JsonList<Composite>;
  numbering: Composite;
  identity: Composite;
  max_calls: number;
  opts: Composite;
  ext: Composite;
}

export interface RecordingRulesTable {
  id: string;
  domain_id: string;
  name: string;
  enabled: boolean;
  /** Rules with lower values are checked first. */
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
  /** Number of the version in `scriptdata`. */
  version: number;
  /** Version for new runs. */
  serving: Composite;
  /** True: the newest version is not served. */
  draft: boolean;
  /** Mistakes found in `scriptdata`. */
  problems: JsonList<object>;
  /** What the version in `scriptdata` imports: hashes of texts by name. */
  modules: Composite;
  opts: Composite;
  ext: Composite;
}

/** All versions of the scripts' texts. */
export interface ScriptVersionsTable {
  script_id: string;
  number: number;
  scriptdata: Composite;
  problems: JsonList<object>;
  modules: Composite;
  /** It was saved as a draft and has never served. */
  draft: boolean;
  /** Milliseconds since the epoch. */
  created: number;
}

/** The texts of modules that versions of scripts import. */
export interface ScriptModulesTable {
  hash: string;
  source: string;
}

/** The index of recorded calls. */
export interface RecordingsTable {
  id: string;
  domain_id: string;
  /** Name of the domain at the time of the call. */
  domain: string;
  idconn: string;
  inviteid: string;
  dialogid: string;
  /** Empty: the main recording. */
  layer: string;
  /** Empty: started by an operation, not by a rule. */
  rule_id: string;
  storage: string;
  status: 'recording' | 'saved' | 'failed';
  reason: string;
  /** Milliseconds since the epoch. */
  startts: number;
  endts: number;
  /** Duration in milliseconds. */
  length: number;
  /** Octets. */
  size: number;
  sha256: string;
  reclink: string;
  parties: JsonList<object>;
  /** True: transcribe the recording as soon as it is complete. */
  transcribe: boolean;
  asr_status: '' | 'queued' | 'running' | 'done' | 'failed';
  /** Time of the latest asr_status, milliseconds since the epoch. */
  asr_since: number;
  transcript: Composite;
  node: string;
}

export interface ClusterStartsTable {
  name: string;
  /** Milliseconds since the epoch. */
  expires: number;
  /** The process that is at it; null when it is done. */
  owner: string | null;
}

export interface WaitingRunsTable {
  run: string;
  process: string;
  /** JSON. */
  state: string;
}

export interface FirstAnswersTable {
  user_id: string;
  key: string;
  fingerprint: string;
  /** Null until the first request is answered. */
  answer: Composite | null;
  /** Milliseconds since the epoch. */
  expires: number;
  /** Process of the node in a cluster that works at the first request; null on a single node. */
  node: string | null;
}

/** Servers that get events by HTTP. */
export interface WebhooksTable {
  id: string;
  domain_id: string;
  name: string;
  url: string;
  enabled: boolean;
  events: JsonList<string>;
  objects: JsonList<string>;
  classpath: string;
  exargs: Composite;
  /** The present secret first; `until` in milliseconds since the epoch, null: without end. */
  secrets: JsonList<{ secret: string; until: number | null }>;
  state: Composite;
  opts: Composite;
  ext: Composite;
}

export interface WebhookDeliveriesTable {
  id: string;
  webhook_id: string;
  /** `class.type` */
  event: string;
  /** The JSON that is sent. */
  body: string;
  status: 'waiting' | 'delivered' | 'failed';
  attempts: number;
  /** Milliseconds since the epoch, as the other times. */
  created: number;
  expires: number;
  due: number | null;
  claimed: boolean;
  finished: number | null;
  last_status: number | null;
  last_error: string;
}

/** Numbers of the versions of scenario files. */
export interface ScenarioFileVersionsTable {
  scenario: string;
  number: number;
  hash: string;
  /** Milliseconds since the epoch. */
  created: number;
}

/** Figures of the ended runs of a scenario in one hour: a row for each way of ending, error code and block. */
export interface ScenarioFiguresTable {
  domain_id: string;
  scenario: string;
  /** Its beginning, milliseconds since the epoch. */
  hour: number;
  kind: 'run' | 'version' | 'failure' | 'block';
  /** Status, error code, or name of the block. */
  name: string;
  count: number;
  total_ms: number;
  longest_ms: number;
  /** Of runs. */
  cpu_ms: number;
  /** The greatest. */
  memory_bytes: number;
}

/** Agents of queues. */
export interface AgentsTable {
  domain_id: string;
  number: string;
  state: 'ready' | 'away';
  queues: JsonList<string>;
  skills: JsonList<string>;
}

/** Uploaded prompts of domains. */
export interface PromptsTable {
  id: string;
  domain_id: string;
  name: string;
  /** Empty: for every language. */
  language: string;
  kind: string;
  filename: string;
  /** Bytes of the uploaded file. */
  size: number;
  milliseconds: number;
  /** Milliseconds since the epoch. */
  mtime: number;
  /** The uploaded file, and its WAV. */
  hasha: string;
  wav_hasha: string;
  opts: Composite;
  ext: Composite;
}

/** Voice messages of mailboxes. */
export interface VoiceMessagesTable {
  id: string;
  domain_id: string;
  mailbox: string;
  /** Of the caller. */
  number: string;
  name: string;
  /** Milliseconds since the epoch. */
  created: number;
  /** Milliseconds since the epoch; 0: new. */
  heard: number;
  milliseconds: number;
  /** Bytes of the WAV file. */
  size: number;
  hasha: string;
}

/** Subscriptions of phones (RFC 6665). */
export interface SubscriptionsTable {
  id: string;
  sipuser_id: string;
  /** The node that sends its NOTIFYs. */
  node: string;
  /** Milliseconds since the epoch. */
  expires: number;
  data: Composite;
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
  script_modules: ScriptModulesTable;
  scenario_file_versions: ScenarioFileVersionsTable;
  scenario_figures: ScenarioFiguresTable;
  first_answers: FirstAnswersTable;
  cluster_starts: ClusterStartsTable;
  waiting_runs: WaitingRunsTable;
  webhooks: WebhooksTable;
  webhook_deliveries: WebhookDeliveriesTable;
  agents: AgentsTable;
  prompts: PromptsTable;
  voice_messages: VoiceMessagesTable;
  subscriptions: SubscriptionsTable;
}
