import { isIP, isIPv6 } from 'node:net';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { wantsTraces } from '../tracing/index.ts';
import { nearest } from '../words/index.ts';
import { listeningHosts, publicAddressesOf, withoutMapped } from './addresses.ts';
import { ConfigError, UnknownSettingError } from './errors.ts';
import { type SettingName as Name, SETTINGS } from './settings.ts';

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  readonly secret: string;
  /** Whose nodes prefer it; undefined: of all sites. */
  readonly site?: string;
}

/** PEM files of a certificate and its key, and the ports that use it. */
export interface TlsConfig {
  /** Absolute paths. */
  readonly certFile: string;
  readonly keyFile: string;
  readonly sipPort: number;
  readonly httpPort: number;
}

/** A NATS server. */
export interface NatsAddress {
  /** `host:port` */
  readonly address: string;
  /** TLS is wanted. */
  readonly secure: boolean;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly token: string | undefined;
}

/** The roles of the specification; docs/operating/cluster.md says what a node does in each. */
export const ROLES = ['mware', 'b2b', 'conf', 'esg', 'callstore', 'ivr'] as const;
export type Role = (typeof ROLES)[number];

/** How a node joins others over NATS. */
export interface ClusterConfig {
  /** One at least. */
  readonly servers: readonly NatsAddress[];
  /** Absolute paths; undefined: none. */
  readonly credentialsFile: string | undefined;
  readonly tls: {
    readonly ca: string | undefined;
    readonly cert: string | undefined;
    readonly key: string | undefined;
  };
  /** Name of this node. */
  readonly name: string;
}

/** The configuration of a node. */
export interface Config {
  /** Addresses to listen on, at least one. `0.0.0.0` and `::` stand for all of their family. */
  readonly http: { readonly hosts: readonly string[]; readonly port: number };
  readonly sip: { readonly hosts: readonly string[]; readonly port: number };
  /** At most one address a family, which a NAT passes on to this machine. */
  readonly publicAddresses: readonly string[];
  /** TLS of SIP and HTTP; undefined: none. */
  readonly tls: TlsConfig | undefined;
  /** PEM file of the authorities for TLS to providers, absolute; undefined: those of Node and of the system. */
  readonly tlsAuthorities: string | undefined;
  /** PEM file of the lists of revoked certificates of providers, absolute; undefined: they are not checked. */
  readonly tlsRevocations: string | undefined;
  /** SIP over WebSocket: its own port, if any, and allowed origins of pages, lower case. */
  readonly webSocket: { readonly port: number | undefined; readonly origins: readonly string[] };
  readonly rtpPorts: { readonly from: number; readonly to: number };
  /** Absolute path. */
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  /** An S3-compatible store for attachments; undefined: a folder in the data directory. */
  readonly files: string | undefined;
  /** An S3-compatible store for recordings; undefined: a folder in the data directory. */
  readonly recordings: string | undefined;
  /** Limit of one attachment, in bytes. */
  readonly maxFileBytes: number;
  /** Real servers; empty: the embedded ones. */
  readonly drachtio: readonly ServerAddress[];
  readonly freeswitch: readonly ServerAddress[];
  /** Bytes of one prompt and of all converted ones; milliseconds that a caller waits for the sound of a URL. */
  readonly prompts: { readonly maxBytes: number; readonly cacheBytes: number; readonly waitMs: number };
  /** The mail server, and the sender's address; undefined: none. */
  readonly mail: { readonly url: string; readonly from: string } | undefined;
  /** Requested session interval of phones, seconds (RFC 4028). */
  readonly sessionExpires: number;
  /** Seconds without audio from a phone that end its call; 0: never. */
  readonly rtpTimeout: number;
  /** Limits of concurrent calls, and of new calls in a second; 0: no limit. */
  readonly callLimits: { readonly calls: number; readonly startsPerSecond: number };
  /** Days that the history keeps calls, 0: for ever; octets of its journal while the database is away. */
  readonly history: { readonly days: number; readonly journalBytes: number };
  /** Days that traces of runs are kept, 0: for ever. */
  readonly traceDays: number;
  /** Octets of SIP messages that are kept for ladder diagrams; 0: none. */
  readonly ladderBytes: number;
  /** The capture server that gets all SIP messages; undefined: none. */
  readonly hep:
    | { readonly host: string; readonly port: number; readonly id: number; readonly password: string }
    | undefined;
  /** Milliseconds that calls have to end by themselves after SIGTERM; undefined: depends on who started the node. */
  readonly drainMs: number | undefined;
  /** The socket of the service manager that started the node, and its watchdog's interval; see sd_notify(3). */
  readonly serviceManager: { readonly notifySocket: string | undefined; readonly watchdogMs: number | undefined };
  readonly logLevel: string;
  /** True when the variables of OpenTelemetry ask for traces. */
  readonly traces: boolean;
  /** `json`, `pretty`, or empty: `pretty` on a terminal, else `json`. */
  readonly logFormat: string;
  readonly site: string;
  /** At least one. */
  readonly roles: ReadonlySet<Role>;
  /** The cluster; undefined: a single node. */
  readonly cluster: ClusterConfig | undefined;
  /** Folder of the operator's scenarios, absolute; served beside the examples. */
  readonly scenarioDir: string;
  /** JSON file with the secrets of scenarios, absolute; may be missing. */
  readonly secretsFile: string;
  /** JSON file with the first accounts of an empty store, absolute; undefined: none. */
  readonly adminFile: string | undefined;
  /** Processors for scripts: `all`, or `spare-one`: all but the first. */
  readonly scriptProcessors: string;
  /** Port on the loopback address for debuggers of scripts; undefined: debuggers are not allowed. */
  readonly debugPort: number | undefined;
  /** Allowed hosts of HTTP requests by scenarios: names, `*.example.com`, or `*`. */
  readonly scenarioHosts: readonly string[];
  /** Loopback, link-local and private addresses and networks that scenarios may reach. */
  readonly scenarioNetworks: readonly string[];
  /** Addresses and networks that webhooks may reach though they are not public, and by plain HTTP. */
  readonly webhookNetworks: readonly string[];
  /** Signatures of calls: PEM files, absolute; the URL of the certificate; networks that certificates may come from. */
  readonly stir: {
    /** Undefined: calls are not signed. */
    readonly key: string | undefined;
    readonly certificateUrl: string;
    /** Undefined: calls are not verified. */
    readonly roots: string | undefined;
    readonly networks: readonly string[];
  };
  /** Addresses and networks exempt from the login ban. */
  readonly loginAllowList: readonly string[];
  /** Requests a second from one address that need a SIP password; 0: no limit. */
  readonly sipRequests: number;
  /** Lifetimes of a session after its last use, and after the login, in milliseconds; Infinity: no limit. */
  readonly sessionLimits: { readonly idleMs: number; readonly lifetimeMs: number };
  /** Limit of REST requests of one session in a second; 0: no limit. */
  readonly sessionRequests: number;
}

const PUBLIC = 'RINGMASTER_PUBLIC_ADDRESS';
const SCRIPT_PROCESSORS = ['spare-one', 'all'];
const LOG_FORMATS = ['json', 'pretty'];
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/**
 * Reads the settings.
 * @throws ConfigError for the first invalid one, UnknownSettingError for a name that is none
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  refuseUnknown(env);
  const text = (name: Name): string => {
    const value = env[name]?.trim();
    return value === undefined || value === ''
      ? (SETTINGS.find((setting) => setting.name === name)?.fallback ?? '')
      : value;
  };
  const listening = sipHosts(text);
  return {
    http: {
      hosts: listeningHosts('RINGMASTER_HTTP_HOST', text('RINGMASTER_HTTP_HOST')),
      port: port('RINGMASTER_HTTP_PORT', text),
    },
    sip: { hosts: listening, port: port('RINGMASTER_SIP_PORT', text) },
    publicAddresses: publicAddresses(text(PUBLIC), listening),
    tls: tls(text),
    tlsAuthorities: text('RINGMASTER_TLS_CA') === '' ? undefined : resolve(text('RINGMASTER_TLS_CA')),
    tlsRevocations: text('RINGMASTER_TLS_CRL') === '' ? undefined : resolve(text('RINGMASTER_TLS_CRL')),
    webSocket: {
      port: text('RINGMASTER_WS_PORT') === '' ? undefined : port('RINGMASTER_WS_PORT', text),
      origins: origins('RINGMASTER_WS_ORIGINS', text),
    },
    rtpPorts: portRange('RINGMASTER_RTP_PORTS', text),
    dataDir: resolve(text('RINGMASTER_DATA_DIR')),
    databaseUrl: databaseUrl(text('DATABASE_URL')),
    files: bucketUrl('RINGMASTER_FILES', text),
    recordings: bucketUrl('RINGMASTER_RECORDINGS', text),
    maxFileBytes: integer('RINGMASTER_MAX_FILE_MB', text, 1, 1_000_000) * 1024 * 1024,
    prompts: {
      maxBytes: integer('RINGMASTER_PROMPT_MB', text, 1, 1000) * 1024 * 1024,
      cacheBytes: integer('RINGMASTER_PROMPT_CACHE_MB', text, 10, 1_000_000) * 1024 * 1024,
      waitMs: integer('RINGMASTER_PROMPT_WAIT', text, 1, 60) * 1000,
    },
    mail: mail(text),
    drachtio: servers('RINGMASTER_DRACHTIO', text),
    freeswitch: servers('RINGMASTER_FREESWITCH', text),
    sessionExpires: seconds('RINGMASTER_SESSION_EXPIRES', text),
    rtpTimeout: integer('RINGMASTER_RTP_TIMEOUT', text, 0, 86_400),
    callLimits: {
      calls: integer('RINGMASTER_MAX_CALLS', text, 0, 1_000_000),
      startsPerSecond: integer('RINGMASTER_CALL_STARTS', text, 0, 100_000),
    },
    sessionLimits: {
      idleMs: integer('RINGMASTER_SESSION_IDLE', text, 60, 31_536_000) * 1000,
      lifetimeMs: (integer('RINGMASTER_SESSION_LIFETIME', text, 0, 31_536_000) || Number.POSITIVE_INFINITY) * 1000,
    },
    sessionRequests: integer('RINGMASTER_SESSION_REQUESTS', text, 0, 100_000),
    history: {
      days: integer('RINGMASTER_HISTORY_DAYS', text, 0, 36_500),
      journalBytes: integer('RINGMASTER_HISTORY_JOURNAL_MB', text, 1, 100_000) * 1024 * 1024,
    },
    traceDays: integer('RINGMASTER_TRACE_DAYS', text, 0, 36_500),
    ladderBytes: integer('RINGMASTER_LADDER_MB', text, 0, 4096) * 1024 * 1024,
    hep: hep(text),
    drainMs: text('RINGMASTER_DRAIN') === '' ? undefined : integer('RINGMASTER_DRAIN', text, 0, 86_400) * 1000,
    serviceManager: serviceManager(env),
    traces: wantsTraces(env),
    logLevel: oneOf(LOG_LEVELS, 'RINGMASTER_LOG_LEVEL', text),
    logFormat: text('RINGMASTER_LOG_FORMAT') === '' ? '' : oneOf(LOG_FORMATS, 'RINGMASTER_LOG_FORMAT', text),
    site: text('RINGMASTER_SITE'),
    roles: roles(text),
    cluster: cluster(text),
    scenarioDir: resolve(text('RINGMASTER_SCENARIO_DIR') || join(text('RINGMASTER_DATA_DIR'), 'scenarios')),
    adminFile: text('RINGMASTER_ADMIN_FILE') === '' ? undefined : resolve(text('RINGMASTER_ADMIN_FILE')),
    secretsFile: resolve(text('RINGMASTER_SECRETS_FILE') || join(text('RINGMASTER_DATA_DIR'), 'secrets.json')),
    scriptProcessors: oneOf(SCRIPT_PROCESSORS, 'RINGMASTER_SCRIPT_PROCESSORS', text),
    debugPort: text('RINGMASTER_DEBUG_PORT') === '' ? undefined : port('RINGMASTER_DEBUG_PORT', text),
    scenarioHosts: hosts('RINGMASTER_SCENARIO_HOSTS', text),
    scenarioNetworks: networks('RINGMASTER_SCENARIO_NETWORKS', text),
    stir: stir(text),
    webhookNetworks: networks('RINGMASTER_WEBHOOK_NETWORKS', text),
    sipRequests: integer('RINGMASTER_SIP_REQUESTS', text, 0, 100_000),
    loginAllowList: networks('RINGMASTER_LOGIN_ALLOW', text),
  };
}

/**
 * What systemd passes to a service. WATCHDOG_PID is not looked at: it is the launcher's, and no other process gets the
 * variables.
 */
function serviceManager(env: Readonly<Record<string, string | undefined>>): Config['serviceManager'] {
  const { NOTIFY_SOCKET: socket = '', WATCHDOG_USEC: microseconds = '' } = env;
  return {
    notifySocket: socket === '' ? undefined : socket,
    watchdogMs: /^[1-9]\d{0,14}$/.test(microseconds) ? Number(microseconds) / 1000 : undefined,
  };
}

function list(value: string): string[] {
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function oneOf(known: readonly string[], name: Name, text: (name: Name) => string): string {
  const value = text(name);
  if (!known.includes(value)) throw new ConfigError(name, value, known.join(', '));
  return value;
}

/** Host names, IPv6 addresses in brackets, all names below one (`*.example.com`), or `*`. */
const HOST = /^(\*|(\*\.)?[a-z0-9_.-]+|\[[0-9a-f:.]+\])$/i;

function hosts(name: Name, text: (name: Name) => string): string[] {
  const entries = list(text(name));
  for (const entry of entries)
    if (!HOST.test(entry))
      throw new ConfigError(name, entry, 'host names such as api.example.com, *.example.com, or *');
  return entries;
}

function networks(name: Name, text: (name: Name) => string): string[] {
  const entries = list(text(name));
  for (const entry of entries) {
    const [address = '', prefix, ...more] = entry.split('/');
    const family = isIP(address);
    const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
    if (family === 0 || !isPrefix || more.length > 0)
      throw new ConfigError(name, entry, 'addresses and networks such as 192.0.2.1, 10.0.0.0/8');
  }
  return entries;
}

const PREFIX = 'RINGMASTER_';
/** Variables of the test suite, and the token of commands: no misspelt settings. */
const OTHERS = /^RINGMASTER_((TEST|FUZZ|REQUIRE)_|TOKEN$)/;

function refuseUnknown(env: Readonly<Record<string, string | undefined>>): void {
  const known: readonly string[] = SETTINGS.map(({ name }) => name);
  for (const name of Object.keys(env)) {
    if (!name.startsWith(PREFIX) || OTHERS.test(name) || known.includes(name)) continue;
    // All begin alike, which would make any two names similar.
    const meant = nearest(
      name.slice(PREFIX.length),
      known.filter((each) => each.startsWith(PREFIX)).map((each) => each.slice(PREFIX.length)),
    );
    throw new UnknownSettingError(name, meant && PREFIX + meant);
  }
}

function sipHosts(text: (name: Name) => string): readonly string[] {
  return withoutMapped('RINGMASTER_SIP_HOST', listeningHosts('RINGMASTER_SIP_HOST', text('RINGMASTER_SIP_HOST')));
}

/** Nothing would be received at an address of another family. */
function publicAddresses(value: string, listening: readonly string[]): readonly string[] {
  const addresses = withoutMapped(PUBLIC, publicAddressesOf(PUBLIC, value));
  for (const address of addresses)
    if (!listening.some((host) => isIPv6(host) === isIPv6(address)))
      throw new ConfigError(
        PUBLIC,
        address,
        `an address of the family of RINGMASTER_SIP_HOST, ${listening.join(', ')}`,
      );
  return addresses;
}

function port(name: Name, text: (name: Name) => string): number {
  const value = text(name);
  const number = Number(value);
  if (!/^\d{1,5}$/.test(value) || number > 65535) throw new ConfigError(name, value, 'a port number from 0 to 65535');
  return number;
}

/** RFC 4028 section 4: 90 s at least. */
function seconds(name: Name, text: (name: Name) => string): number {
  const value = text(name);
  const number = Number(value);
  if (!/^\d{1,5}$/.test(value) || number < 90 || number > 86_400)
    throw new ConfigError(name, value, 'a number of seconds from 90 to 86400');
  return number;
}

function portRange(name: Name, text: (name: Name) => string): { from: number; to: number } {
  const value = text(name);
  const match = /^(\d{1,5})-(\d{1,5})$/.exec(value);
  const from = Number(match?.[1]);
  const to = Number(match?.[2]);
  if (match === null || from < 1024 || to > 65535 || to - from < 3) {
    throw new ConfigError(name, value, 'a range of at least four ports between 1024 and 65535, e.g. 20000-20999');
  }
  return { from, to };
}

function databaseUrl(value: string): string | undefined {
  if (value === '') return undefined;
  if (!/^postgres(ql)?:\/\//.test(value)) {
    throw new ConfigError(
      'DATABASE_URL',
      value.replace(/:[^:@/]*@/, ':***@'),
      'a URL such as postgres://user:password@host/database',
    );
  }
  return value;
}

function integer(name: Name, text: (name: Name) => string, min: number, max: number): number {
  const value = text(name);
  const number = Number(value);
  if (!/^\d{1,9}$/.test(value) || number < min || number > max) {
    throw new ConfigError(name, value, `an integer from ${min} to ${max}`);
  }
  return number;
}

function bucketUrl(name: Name, text: (name: Name) => string): string | undefined {
  const value = text(name);
  if (value === '') return undefined;
  if (!/^s3:\/\/[^:@/]+:[^@/]+@[^/]+\/[^?]+/.test(value) || !URL.canParse(value)) {
    const shown = value.replace(/:[^:@/]*@/, ':***@');
    throw new ConfigError(name, shown, 's3://KEY:SECRET@host/bucket, optionally with ?region=...&tls=false');
  }
  return value;
}

function mail(text: (name: Name) => string): Config['mail'] {
  const [url, from] = [text('RINGMASTER_SMTP_URL'), text('RINGMASTER_MAIL_FROM')];
  if (url === '') return undefined;
  if (!/^smtps?:\/\/[^/\s]+$/.test(url) || !URL.canParse(url)) {
    const shown = url.replace(/:[^:@/]*@/, ':***@');
    throw new ConfigError('RINGMASTER_SMTP_URL', shown, 'smtp://user:password@host:587 or smtps://user:password@host');
  }
  if (!/^[^\s@<>]+@[^\s@<>]+$/.test(from))
    throw new ConfigError('RINGMASTER_MAIL_FROM', from, 'the address of the sender, e.g. calls@example.com');
  return { url, from };
}

function tls(text: (name: Name) => string): TlsConfig | undefined {
  const [cert, key] = [text('RINGMASTER_TLS_CERT'), text('RINGMASTER_TLS_KEY')];
  const ports = { sipPort: port('RINGMASTER_SIPS_PORT', text), httpPort: port('RINGMASTER_HTTPS_PORT', text) };
  if (cert === '' && key === '') return undefined;
  if (cert === '') throw new ConfigError('RINGMASTER_TLS_CERT', cert, 'the certificate of RINGMASTER_TLS_KEY');
  if (key === '') throw new ConfigError('RINGMASTER_TLS_KEY', key, 'the key of RINGMASTER_TLS_CERT');
  return { certFile: resolve(cert), keyFile: resolve(key), ...ports };
}

function origins(name: Name, text: (name: Name) => string): string[] {
  const entries = list(text(name)).map((entry) => entry.toLowerCase());
  for (const entry of entries) {
    const isOrigin =
      entry === '*' || (/^https?:/.test(entry) && URL.canParse(entry) && new URL(entry).origin === entry);
    if (!isOrigin) throw new ConfigError(name, entry, 'origins such as https://shop.example.com, or *');
  }
  return entries;
}

function stir(text: (name: Name) => string): Config['stir'] {
  const file = (name: Name) => (text(name) === '' ? undefined : resolve(text(name)));
  const key = file('RINGMASTER_STIR_KEY');
  const certificateUrl = text('RINGMASTER_STIR_CERTIFICATE_URL');
  const isUrl = /^https:\/\/[^\s<>";]+$/.test(certificateUrl) && URL.canParse(certificateUrl);
  if ((key !== undefined || certificateUrl !== '') && !isUrl)
    throw new ConfigError('RINGMASTER_STIR_CERTIFICATE_URL', certificateUrl, 'the https URL of the certificate');
  if (key === undefined && certificateUrl !== '')
    throw new ConfigError('RINGMASTER_STIR_KEY', '', 'the file of the key whose certificate has a URL');
  return {
    key,
    certificateUrl,
    roots: file('RINGMASTER_STIR_ROOTS'),
    networks: networks('RINGMASTER_STIR_NETWORKS', text),
  };
}

/** The capture server: `host:port`, or `udp:host:port`. */
function hep(text: (name: Name) => string): Config['hep'] {
  const value = text('RINGMASTER_HEP');
  if (value === '') return undefined;
  const [, v6, name, portText] = /^(?:udp:)?(?:\[([0-9a-f:.]+)\]|([^:[\]\s]+)):(\d{1,5})$/i.exec(value) ?? [];
  const portNumber = Number(portText);
  const address = v6 ?? name;
  if (address === undefined || portNumber === 0 || portNumber > 65_535)
    throw new ConfigError('RINGMASTER_HEP', value, 'host:port or udp:host:port, e.g. 192.0.2.7:9060');
  const id = integer('RINGMASTER_HEP_ID', text, 0, 4_294_967_295);
  return { host: address, port: portNumber, id, password: text('RINGMASTER_HEP_PASSWORD') };
}

function roles(text: (name: Name) => string): ReadonlySet<Role> {
  const value = text('RINGMASTER_ROLES');
  const named = list(value).map((name) => {
    const role = ROLES.find((each) => each === name);
    if (role === undefined) throw new ConfigError('RINGMASTER_ROLES', name, `roles among ${ROLES.join(', ')}`);
    return role;
  });
  if (named.length === 0) throw new ConfigError('RINGMASTER_ROLES', value, `roles among ${ROLES.join(', ')}`);
  return new Set(named);
}

/** The cluster, which needs a database that all its nodes share. */
function cluster(text: (name: Name) => string): ClusterConfig | undefined {
  const file = (name: Name) => (text(name) === '' ? undefined : resolve(text(name)));
  const value = text('RINGMASTER_CLUSTER');
  if (value === '') return undefined;
  if (text('DATABASE_URL') === '')
    throw new ConfigError('DATABASE_URL', '', 'the PostgreSQL that the nodes of RINGMASTER_CLUSTER share');
  const [cert, key] = [file('RINGMASTER_CLUSTER_CERT'), file('RINGMASTER_CLUSTER_KEY')];
  if (cert !== undefined && key === undefined)
    throw new ConfigError('RINGMASTER_CLUSTER_KEY', '', 'the key of RINGMASTER_CLUSTER_CERT');
  if (key !== undefined && cert === undefined)
    throw new ConfigError('RINGMASTER_CLUSTER_CERT', '', 'the certificate of RINGMASTER_CLUSTER_KEY');
  return {
    servers: list(value).map(natsAddress),
    credentialsFile: file('RINGMASTER_CLUSTER_CREDENTIALS'),
    tls: { ca: file('RINGMASTER_CLUSTER_CA'), cert, key },
    name: text('RINGMASTER_NODE') || `${hostname()}:${text('RINGMASTER_HTTP_PORT')}`,
  };
}

function natsAddress(url: string): NatsAddress {
  const { protocol = '', host: at = '', username = '', password = '' } = URL.canParse(url) ? new URL(url) : {};
  if (!['nats:', 'tls:'].includes(protocol) || at === '') {
    // The message must not tell the password.
    const shown = url.replace(/[^/@]*@/, '***@');
    throw new ConfigError(
      'RINGMASTER_CLUSTER',
      shown,
      'URLs such as nats://user:password@host:4222, or tls://host:4222',
    );
  }
  const named = username === '' ? undefined : decodeURIComponent(username);
  const secret = password === '' ? undefined : decodeURIComponent(password);
  return {
    address: /:\d+$/.test(at) ? at : `${at}:4222`,
    secure: protocol === 'tls:',
    user: secret === undefined ? undefined : named,
    password: secret,
    token: secret === undefined ? named : undefined,
  };
}

function servers(name: Name, text: (name: Name) => string): ServerAddress[] {
  const value = text(name);
  if (value === '') return [];
  return value.split(',').map((part) => {
    const match = /^(?:([^@:]+)@)?(\[[0-9a-fA-F:]+\]|[^:@]+):(\d{1,5}):(.+)$/.exec(part.trim());
    if (match === null || Number(match[3]) > 65535) {
      // The message names only the place in the list, to keep the secret out of logs.
      throw new ConfigError(
        name,
        part.replace(/:[^:]*$/, ':***'),
        'host:port:secret or site@host:port:secret, several separated by commas',
      );
    }
    const [, site, host = '', , secret = ''] = match;
    const address = { host: host.replace(/[[\]]/g, ''), port: Number(match[3]), secret };
    return site === undefined ? address : { ...address, site };
  });
}
