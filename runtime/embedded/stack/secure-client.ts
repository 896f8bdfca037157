/** TLS connections that this side opens. */
import type * as Tls from 'node:tls';
import { type Certificate, MIN_VERSION } from './secure-server.ts';
import { formatHostPort } from './uri.ts';

/** Addresses whose host name is remembered. */
const MAX_NAMES = 1000;

/** What certificates of servers are checked against. */
export interface Trust {
  /** PEM of the authorities that they must lead to; absent: those of Node and of the system. */
  readonly authorities?: string;
  /**
   * Lists of revoked certificates (RFC 5280 section 5), PEM, each in a text of its own. Every authority of a chain needs one then;
   * absent: nothing counts as revoked.
   */
  readonly revocations?: readonly string[];
}

/** Opens TLS connections. The far end's certificate must be for its name, and lead to a known authority. */
export class SecureClient {
  readonly #tls: typeof Tls;
  #trust: Trust;
  #certificate: Certificate;
  /** Made with the first connection: reading hundreds of authorities takes some 30 ms. */
  #context: Tls.SecureContext | undefined;
  /** The host name of an address that a certificate was checked for: a Contact may have the address alone. */
  readonly #names = new Map<string, string>();

  /** @param certificate shown to servers that ask for one */
  constructor(tls: typeof Tls, certificate: Certificate, trust: Trust) {
    this.#tls = tls;
    this.#certificate = certificate;
    this.#trust = trust;
  }

  /** Uses another certificate for connections from now on. */
  replace(certificate: Certificate): void {
    this.#certificate = certificate;
    this.#context = undefined;
  }

  /** Checks the certificates of connections from now on against this. */
  trust(trust: Trust): void {
    this.#trust = trust;
    this.#context = undefined;
  }

  /** @param name host name, if the address was looked up; without it the certificate must be for the address */
  connect(host: string, port: number, name: string | undefined): Tls.TLSSocket {
    const { authorities, revocations } = this.#trust;
    this.#context ??= this.#tls.createSecureContext({
      ...this.#certificate,
      minVersion: MIN_VERSION,
      ca: authorities ?? [
        ...new Set([...this.#tls.getCACertificates('default'), ...this.#tls.getCACertificates('system')]),
      ],
      ...(revocations === undefined ? {} : { crl: [...revocations] }),
    });
    const key = formatHostPort(host, port);
    const servername = name ?? this.#names.get(key);
    const socket = this.#tls.connect({
      host,
      port,
      secureContext: this.#context,
      ...(servername === undefined ? {} : { servername }),
    });
    socket.setNoDelay(true);
    if (servername !== undefined) socket.once('secureConnect', () => this.#remember(key, servername));
    return socket;
  }

  #remember(key: string, name: string): void {
    this.#names.delete(key);
    this.#names.set(key, name);
    const [oldest] = this.#names.keys();
    if (this.#names.size > MAX_NAMES && oldest !== undefined) this.#names.delete(oldest);
  }
}

/** What is wrong with a certificate, by the code of OpenSSL or Node. */
const PROBLEMS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  CERT_REVOKED: 'its certificate has been revoked',
  UNABLE_TO_GET_CRL: 'the list of the certificates that its authority revoked is missing',
  CRL_HAS_EXPIRED: 'the list of the certificates that its authority revoked has expired',
  CRL_NOT_YET_VALID: 'the list of the certificates that its authority revoked is not valid yet',
  CRL_SIGNATURE_FAILURE: 'the list of the certificates that its authority revoked has a wrong signature',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed, and no known authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is of an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate is of an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is of an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is of an unknown authority',
  ECONNRESET: 'it closed the connection during the TLS handshake',
};

/** Errors of the network, which say nothing of TLS. */
const OF_NETWORK = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'EADDRNOTAVAIL', 'ENETDOWN']);

/** Why a handshake failed, in words; undefined when no connection came about. */
export function handshakeProblem(error: NodeJS.ErrnoException): string | undefined {
  const { code = '', message } = error;
  if (OF_NETWORK.has(code)) return undefined;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const { reason = message } = error as NodeJS.ErrnoException & { reason?: string };
    return `its certificate is for another name: ${reason}`;
  }
  return PROBLEMS[code] ?? `the TLS handshake failed: ${(error as { reason?: string }).reason ?? message}`;
}
