/** TLS connections that this side opens. */
import type * as Tls from 'node:tls';
import { type Certificate, MIN_VERSION } from './secure-server.ts';
import { formatHostPort } from './uri.ts';

/** Addresses whose host name is remembered. */
const MAX_NAMES = 1000;

/** Opens TLS connections. The far end's certificate must be for its name, and lead to a known authority. */
export class SecureClient {
  readonly #tls: typeof Tls;
  readonly #authorities: string | undefined;
  #certificate: Certificate;
  /** Made with the first connection: reading hundreds of authorities takes some 30 ms. */
  #context: Tls.SecureContext | undefined;
  /** The host name of an address that a certificate was checked for: a Contact may have the address alone. */
  readonly #names = new Map<string, string>();

  /**
   * @param certificate shown to servers that ask for one
   * @param authorities PEM; undefined: those of Node and of the system
   */
  constructor(tls: typeof Tls, certificate: Certificate, authorities: string | undefined) {
    this.#tls = tls;
    this.#certificate = certificate;
    this.#authorities = authorities;
  }

  /** Uses another certificate for connections from now on. */
  replace(certificate: Certificate): void {
    this.#certificate = certificate;
    this.#context = undefined;
  }

  /** @param name host name, if the address was looked up; without it the certificate must be for the address */
  connect(host: string, port: number, name: string | undefined): Tls.TLSSocket {
    this.#context ??= this.#tls.createSecureContext({
      ...this.#certificate,
      minVersion: MIN_VERSION,
      ca: this.#authorities ?? [
        ...new Set([...this.#tls.getCACertificates('default'), ...this.#tls.getCACertificates('system')]),
      ],
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
