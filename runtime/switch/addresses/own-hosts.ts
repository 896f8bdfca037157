/** Tells this platform's hosts from foreign ones. */
import type { DomainName } from '../../domain-name/index.ts';
import { bareHost } from '../../signalling/index.ts';

/** Most hosts learnt from the phones of one domain. */
const MAX_LEARNT = 32;

/**
 * The hosts in SIP URIs that mean this platform (RFC 3261 section 8.2.2.1). For an account these are its domain, the
 * addresses at which the SIP servers listen, and the hosts under which phones of the domain register and call, such as the
 * public address of a router in front of the servers. All other hosts are foreign, even if a number here matches.
 */
export class OwnHosts {
  readonly #listens: (host: string) => boolean;
  readonly #domainOf: (host: string) => DomainName | undefined;
  /** By domain; the host used last is at the end. */
  readonly #learnt = new Map<DomainName, Set<string>>();

  /**
   * @param listens whether a SIP server listens at this address
   * @param domainOf the domain of this name
   */
  constructor(listens: (host: string) => boolean, domainOf: (host: string) => DomainName | undefined) {
    this.#listens = listens;
    this.#domainOf = domainOf;
  }

  /** An authenticated account of the domain named this host as its registrar, or as its own in To or From. */
  learn(domain: DomainName, host: string): void {
    const bare = bareHost(host);
    if (bare === '' || this.#domainOf(bare) === domain || this.#listens(bare)) return;
    const hosts = this.#learnt.get(domain) ?? new Set();
    this.#learnt.set(domain, hosts);
    hosts.delete(bare);
    hosts.add(bare);
    const [oldest] = hosts;
    if (hosts.size > MAX_LEARNT && oldest !== undefined) hosts.delete(oldest);
  }

  /** @param host of a URI that a phone of the domain gives; empty for a telephone number (`tel:`) */
  isHere(host: string, domain: DomainName): boolean {
    const bare = bareHost(host);
    if (bare === '' || this.#domainOf(bare) === domain) return true;
    return this.#listens(bare) || this.#learnt.get(domain)?.has(bare) === true;
  }
}
