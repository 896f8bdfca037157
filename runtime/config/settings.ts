/** Settings by environment variable, with the default and the form in which each is documented. */
export const SETTINGS = [
  { name: 'RINGMASTER_HTTP_HOST', fallback: '127.0.0.1', about: 'addresses of the REST service, comma-separated' },
  { name: 'RINGMASTER_HTTP_PORT', fallback: '8080', about: 'port of the REST service' },
  {
    name: 'RINGMASTER_HTTPS_PORT',
    fallback: '8443',
    about: 'port of the REST service over TLS; with a certificate only',
  },
  {
    name: 'RINGMASTER_SIP_HOST',
    fallback: '127.0.0.1',
    about:
      'addresses of SIP and sound, IPv4 and IPv6, comma-separated; `0.0.0.0`: all of IPv4, `::`: all of both. Phones register to them',
  },
  {
    name: 'RINGMASTER_PUBLIC_ADDRESS',
    fallback: '',
    about:
      'addresses that phones and carriers outside reach this machine at, behind a NAT: one of IPv4, one of IPv6, or both, comma-separated',
  },
  { name: 'RINGMASTER_SIP_PORT', fallback: '5060', about: 'SIP port, UDP and TCP' },
  {
    name: 'RINGMASTER_SIPS_PORT',
    fallback: '5061',
    about: 'SIP port for TLS; with a certificate only',
  },
  {
    name: 'RINGMASTER_WS_PORT',
    fallback: '',
    about:
      'port for SIP over WebSocket: wss with a certificate, else ws; empty: none. Browsers also reach `/sip` of the HTTP ports',
  },
  {
    name: 'RINGMASTER_WS_ORIGINS',
    fallback: '',
    about:
      'origins of pages of other sites that may open a SIP WebSocket, comma-separated: https://shop.example.com, or * for all',
  },
  {
    name: 'RINGMASTER_TLS_CERT',
    fallback: '',
    about: 'PEM file with the certificate and its chain, for TLS of SIP and HTTP; read again when it changes',
  },
  {
    name: 'RINGMASTER_TLS_KEY',
    fallback: '',
    about: 'PEM file with the key of that certificate; read again when it changes',
  },
  {
    name: 'RINGMASTER_TLS_CA',
    fallback: '',
    about:
      'PEM file with the authorities that certificates of providers must lead to; empty: those of Node and of the system; read again when it changes',
  },
  {
    name: 'RINGMASTER_TLS_CRL',
    fallback: '',
    about:
      'PEM file with the lists of certificates that these authorities revoked; empty: not checked; read again when it changes',
  },
  { name: 'RINGMASTER_RTP_PORTS', fallback: '20000-20999', about: 'range of UDP ports for sound' },
  { name: 'RINGMASTER_DATA_DIR', fallback: './data', about: 'where the node keeps its data' },
  { name: 'DATABASE_URL', fallback: '', about: 'a PostgreSQL server instead of the database in the data directory' },
  {
    name: 'RINGMASTER_FILES',
    fallback: '',
    about:
      's3://KEY:SECRET@host/bucket?region=...: an S3-compatible store for attachments instead of the data directory',
  },
  {
    name: 'RINGMASTER_RECORDINGS',
    fallback: '',
    about:
      's3://KEY:SECRET@host/bucket?region=...: an S3-compatible store for recordings instead of the data directory',
  },
  { name: 'RINGMASTER_MAX_FILE_MB', fallback: '100', about: 'MiB of one attachment' },
  { name: 'RINGMASTER_PROMPT_MB', fallback: '20', about: 'MiB of one prompt, uploaded or fetched from a URL' },
  {
    name: 'RINGMASTER_PROMPT_CACHE_MB',
    fallback: '256',
    about: 'MiB of converted prompts and sounds of URLs in the data directory; the least recently played ones go first',
  },
  {
    name: 'RINGMASTER_PROMPT_WAIT',
    fallback: '5',
    about:
      'seconds that a caller may wait in silence for the sound of a URL, or for a conversion; then the block fails',
  },
  {
    name: 'RINGMASTER_SMTP_URL',
    fallback: '',
    about: 'smtp://user:password@host:587 or smtps://...: the mail server for `email` of scenarios',
  },
  { name: 'RINGMASTER_MAIL_FROM', fallback: '', about: 'address of the sender of e-mail' },
  {
    name: 'RINGMASTER_DRACHTIO',
    fallback: '',
    about:
      'host:port:secret of a drachtio-server instead of the embedded SIP server, or site@host:port:secret of one that nodes of this site prefer; several separated by commas',
  },
  {
    name: 'RINGMASTER_FREESWITCH',
    fallback: '',
    about:
      'host:port:password of a FreeSWITCH instead of the embedded media server, or site@host:port:password of one that nodes of this site prefer; several separated by commas',
  },
  {
    name: 'RINGMASTER_SESSION_EXPIRES',
    fallback: '1800',
    about: 'session timer of calls, seconds; a phone that is silent for half of it is asked whether it is there',
  },
  {
    name: 'RINGMASTER_RTP_TIMEOUT',
    fallback: '300',
    about:
      'seconds without sound from a phone after which its call ends; not while it holds, or only listens. Longer than phones may ring. 0: never',
  },
  {
    name: 'RINGMASTER_MAX_CALLS',
    fallback: '0',
    about: 'calls at once; more are refused with 503 and Retry-After. 0: no limit',
  },
  {
    name: 'RINGMASTER_CALL_STARTS',
    fallback: '0',
    about: 'calls begun in a second; more are refused with 503 and Retry-After. 0: no limit',
  },
  {
    name: 'RINGMASTER_SESSION_REQUESTS',
    fallback: '0',
    about: 'REST requests of one session in a second; more are answered 429 with Retry-After. 0: no limit',
  },
  {
    name: 'RINGMASTER_SESSION_IDLE',
    fallback: '86400',
    about: 'seconds after the last request of a user at which the session ends',
  },
  {
    name: 'RINGMASTER_SESSION_LIFETIME',
    fallback: '0',
    about: 'seconds after the login at which the session of a user ends, however much it is used. 0: no limit',
  },
  {
    name: 'RINGMASTER_HISTORY_DAYS',
    fallback: '365',
    about: 'days that the history of calls is kept. 0: for ever',
  },
  {
    name: 'RINGMASTER_HISTORY_JOURNAL_MB',
    fallback: '64',
    about: 'MiB of ended calls that wait in the data directory while the database is away; more are not kept',
  },
  {
    name: 'RINGMASTER_TRACE_DAYS',
    fallback: '30',
    about: 'days that traces of ended runs are kept. 0: for ever',
  },
  {
    name: 'RINGMASTER_LADDER_MB',
    fallback: '32',
    about: 'MiB of memory for the SIP messages of the last hour, which `ringmaster ladder` draws. 0: none are kept',
  },
  {
    name: 'RINGMASTER_HEP',
    fallback: '',
    about: 'host:port of a Homer capture server that gets a copy of every SIP message (HEP 3 over UDP)',
  },
  { name: 'RINGMASTER_HEP_ID', fallback: '2001', about: 'number of this node at the capture server' },
  { name: 'RINGMASTER_HEP_PASSWORD', fallback: '', about: 'password of the capture server, if it asks for one' },
  {
    name: 'RINGMASTER_DRAIN',
    fallback: '',
    about:
      'seconds that calls may go on after SIGTERM, which are then ended; else 600 under a service manager and 0 elsewhere',
  },
  {
    name: 'RINGMASTER_SITE',
    fallback: 'main',
    about: 'name of the site of this node, shown in dialogs; its servers are preferred',
  },
  {
    name: 'RINGMASTER_CLUSTER',
    fallback: '',
    about:
      'NATS servers that join several nodes, comma-separated: nats://user:password@host:4222, tls://host:4222. Empty: a single node',
  },
  {
    name: 'RINGMASTER_CLUSTER_CREDENTIALS',
    fallback: '',
    about: 'file with the credentials of NATS (.creds), in place of user and password',
  },
  {
    name: 'RINGMASTER_CLUSTER_CA',
    fallback: '',
    about: 'PEM file with the root certificates of the NATS servers',
  },
  {
    name: 'RINGMASTER_CLUSTER_CERT',
    fallback: '',
    about: 'PEM file with the certificate that this node shows to the NATS servers',
  },
  { name: 'RINGMASTER_CLUSTER_KEY', fallback: '', about: 'PEM file with the key of that certificate' },
  {
    name: 'RINGMASTER_NODE',
    fallback: '',
    about: 'name of this node in the cluster; else the host name and the port of the REST service',
  },
  {
    name: 'RINGMASTER_ROLES',
    fallback: 'mware,b2b,conf,esg,callstore,ivr',
    about:
      'what this node does, comma-separated: mware (REST), b2b (calls), conf (rooms), esg (registrations with providers), callstore (call control), ivr (scenarios)',
  },
  {
    name: 'RINGMASTER_SCENARIO_DIR',
    fallback: '',
    about: 'folder of your own scenario files; else `scenarios` in the data directory',
  },
  {
    name: 'RINGMASTER_SCENARIO_HOSTS',
    fallback: '',
    about: 'hosts that scenarios may ask by HTTP, comma-separated; *.example.com, or * for all public ones',
  },
  {
    name: 'RINGMASTER_SCENARIO_NETWORKS',
    fallback: '',
    about: 'addresses and networks (CIDR) of those hosts that are loopback, link-local or private, comma-separated',
  },
  {
    name: 'RINGMASTER_WEBHOOK_NETWORKS',
    fallback: '',
    about:
      'addresses and networks (CIDR) that webhooks may reach though they are loopback, link-local or private, and by plain HTTP',
  },
  {
    name: 'RINGMASTER_STIR_KEY',
    fallback: '',
    about: 'PEM file with the private key (P-256, PKCS #8) that signs calls to providers (STIR/SHAKEN)',
  },
  {
    name: 'RINGMASTER_STIR_CERTIFICATE_URL',
    fallback: '',
    about: 'https URL where others find the certificate of that key',
  },
  {
    name: 'RINGMASTER_STIR_ROOTS',
    fallback: '',
    about: 'PEM file with the root certificates that certificates of signed calls must lead to',
  },
  {
    name: 'RINGMASTER_STIR_NETWORKS',
    fallback: '',
    about:
      'addresses and networks (CIDR) that certificates may be fetched from though they are loopback, link-local or private',
  },
  {
    name: 'RINGMASTER_LOGIN_ALLOW',
    fallback: '',
    about: 'addresses and networks (CIDR) that failed logins and SIP passwords do not ban, comma-separated',
  },
  {
    name: 'RINGMASTER_SIP_REQUESTS',
    fallback: '200',
    about: 'requests a second from one address that need a SIP password; 0: no limit',
  },
  {
    name: 'RINGMASTER_SECRETS_FILE',
    fallback: '',
    about: 'JSON file with secrets that scenarios use by name; else `secrets.json` in the data directory',
  },
  {
    name: 'RINGMASTER_ADMIN_FILE',
    fallback: '',
    about: 'JSON file with the administrator and the phones that a start on an empty store makes',
  },
  {
    name: 'RINGMASTER_SCRIPT_PROCESSORS',
    fallback: 'all',
    about: 'processors for scripts of scenarios: all, or spare-one, which leaves the first processor to calls (Linux)',
  },
  {
    name: 'RINGMASTER_DEBUG_PORT',
    fallback: '',
    about: 'port on 127.0.0.1 for debuggers of scenario scripts; empty: none is let in',
  },
  {
    name: 'RINGMASTER_LOG_FORMAT',
    fallback: '',
    about: 'json: a line of JSON for each message; pretty: readable lines. Empty: pretty on a terminal, else json',
  },
  { name: 'RINGMASTER_LOG_LEVEL', fallback: 'info', about: 'trace, debug, info, warn, error, fatal or silent' },
] as const;

export type SettingName = (typeof SETTINGS)[number]['name'];
