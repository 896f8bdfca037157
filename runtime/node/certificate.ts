/** The node's certificate, and what it expects of the certificates of providers. */
import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { type Config, ConfigError, type TlsConfig } from '../config/index.ts';
import type { Certificate, Trust } from '../embedded/index.ts';
import { type Live, openLive } from './live-files.ts';

type Log = Pick<Logger, 'info' | 'warn' | 'error'>;

/** The certificate in use. */
export type LiveCertificate = Live<Certificate>;
/** What certificates of providers are checked against. */
export type LiveTrust = Live<Trust>;

/** @throws ConfigError which names the setting */
export async function openCertificate(config: TlsConfig, log: Log): Promise<LiveCertificate> {
  return openLive('TLS certificate', [config.certFile, config.keyFile], () => readCertificate(config), log);
}

/**
 * The authorities that certificates of providers must lead to, and the lists of those that they revoked.
 * @throws ConfigError which names the setting
 */
export async function openTrust(
  { tlsAuthorities, tlsRevocations }: Pick<Config, 'tlsAuthorities' | 'tlsRevocations'>,
  log: Log,
): Promise<LiveTrust> {
  const readTrust = async (): Promise<Trust> => ({
    ...(tlsAuthorities === undefined ? {} : { authorities: await readAuthorities(tlsAuthorities) }),
    ...(tlsRevocations === undefined ? {} : { revocations: await readRevocations(tlsRevocations) }),
  });
  const files = [tlsAuthorities, tlsRevocations].filter((file) => file !== undefined);
  return openLive('trust in TLS certificates of providers', files, readTrust, log);
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

/** @throws ConfigError */
async function readAuthorities(file: string): Promise<string> {
  const { X509Certificate } = await import('node:crypto');
  const pem = await read('RINGMASTER_TLS_CA', file);
  const each = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (each.length === 0) throw new ConfigError('RINGMASTER_TLS_CA', file, 'certificates in PEM');
  for (const one of each) attempt('RINGMASTER_TLS_CA', file, 'certificates in PEM', () => new X509Certificate(one));
  return pem;
}

/** @throws ConfigError */
async function readRevocations(file: string): Promise<readonly string[]> {
  const { createSecureContext } = await import('node:tls');
  const pem = await read('RINGMASTER_TLS_CRL', file);
  // OpenSSL takes one list of each text.
  const each = pem.match(/-----BEGIN X509 CRL-----[^-]*-----END X509 CRL-----/g) ?? [];
  if (each.length === 0) throw new ConfigError('RINGMASTER_TLS_CRL', file, 'lists of revoked certificates in PEM');
  attempt('RINGMASTER_TLS_CRL', file, 'lists of revoked certificates in PEM', () => createSecureContext({ crl: each }));
  return each;
}

type Setting = 'RINGMASTER_TLS_CERT' | 'RINGMASTER_TLS_KEY' | 'RINGMASTER_TLS_CA' | 'RINGMASTER_TLS_CRL';

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
