/** The node's certificate: read and checked at the start, and again when a file changes. */
import { unwatchFile, watchFile } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { ConfigError, type TlsConfig } from '../config/index.ts';
import type { Certificate } from '../embedded/index.ts';

/** Interval at which the files are looked at, ms: notices of the system are lost for links and network drives. */
const WATCH_MS = 1000;

/** The certificate in use. */
export interface LiveCertificate {
  readonly current: Certificate;
  /** Calls back with each later certificate. */
  onChange(listener: (certificate: Certificate) => void): void;
  close(): void;
}

/**
 * Reads the certificate and watches its files. A changed one that cannot be used is logged, and the old one stays.
 * @throws ConfigError which names the setting
 */
export async function openCertificate(
  config: TlsConfig,
  log: Pick<Logger, 'info' | 'warn' | 'error'>,
): Promise<LiveCertificate> {
  let current = await readCertificate(config);
  const listeners = new Set<(certificate: Certificate) => void>();
  let reading = Promise.resolve();
  const reload = async (): Promise<void> => {
    try {
      const next = await readCertificate(config);
      if (next.cert === current.cert && next.key === current.key) return;
      current = next;
      log.info({ file: config.certFile }, 'the changed TLS certificate is in use');
      for (const listener of listeners) listener(next);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      log.warn({ reason: error.message }, 'the changed TLS certificate cannot be used, the old one stays');
    }
  };
  const changed = (): void => {
    reading = reading.then(reload).catch((err: unknown) => log.error({ err }, 'reading the TLS certificate failed'));
  };
  const files = [config.certFile, config.keyFile];
  for (const file of files) watchFile(file, { interval: WATCH_MS, persistent: false }, changed);
  return {
    get current() {
      return current;
    },
    onChange: (listener) => void listeners.add(listener),
    close: () => {
      for (const file of files) unwatchFile(file, changed);
    },
  };
}

/** @throws ConfigError */
async function readCertificate({ certFile, keyFile }: TlsConfig): Promise<Certificate> {
  // Loaded only with a certificate: a node without one starts faster.
  const [{ createPrivateKey, X509Certificate }, { createSecureContext }] = await Promise.all([
    import('node:crypto'),
    import('node:tls'),
  ]);
  const cert = await read('RINGMASTER_TLS_CERT', certFile);
  const key = await read('RINGMASTER_TLS_KEY', keyFile);
  const x509 = attempt('RINGMASTER_TLS_CERT', certFile, 'a certificate in PEM', () => new X509Certificate(cert));
  const [from, to] = [new Date(x509.validFrom), new Date(x509.validTo)];
  if (to.getTime() < Date.now())
    throw new ConfigError('RINGMASTER_TLS_CERT', certFile, `a valid certificate; it expired at ${to.toISOString()}`);
  if (from.getTime() > Date.now())
    throw new ConfigError('RINGMASTER_TLS_CERT', certFile, `a valid certificate; it begins at ${from.toISOString()}`);
  const privateKey = attempt('RINGMASTER_TLS_KEY', keyFile, 'a key in PEM without password', () =>
    createPrivateKey(key),
  );
  if (!x509.checkPrivateKey(privateKey))
    throw new ConfigError('RINGMASTER_TLS_KEY', keyFile, `the key of the certificate in ${certFile}; it does not fit`);
  attempt('RINGMASTER_TLS_CERT', certFile, 'a usable certificate', () => createSecureContext({ cert, key }));
  return { cert, key };
}

/**
 * The authorities that certificates of providers must lead to, PEM.
 * @throws ConfigError
 */
export async function readAuthorities(file: string): Promise<string> {
  const { X509Certificate } = await import('node:crypto');
  const pem = await read('RINGMASTER_TLS_CA', file);
  const each = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (each.length === 0) throw new ConfigError('RINGMASTER_TLS_CA', file, 'certificates in PEM');
  for (const one of each) attempt('RINGMASTER_TLS_CA', file, 'certificates in PEM', () => new X509Certificate(one));
  return pem;
}

type Setting = 'RINGMASTER_TLS_CERT' | 'RINGMASTER_TLS_KEY' | 'RINGMASTER_TLS_CA';

async function read(setting: Setting, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new ConfigError(setting, file, `a readable file (${reasonOf(error)})`);
  }
}

function attempt<Result>(setting: Setting, file: string, expected: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw new ConfigError(setting, file, `${expected} (${reasonOf(error)})`);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
