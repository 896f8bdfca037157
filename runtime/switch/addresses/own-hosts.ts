import type { DomainName } from '../../domain-name/index.ts';
import { bareHost } from '../../signalling/index.ts';

/** Hosts that the phones of one domain may teach. */
const MAX_LEARNT = 32;

/**
 * Which hosts of SIP URIs are this platform (RFC 3261 section 8.2.2.1): to a phone's account they are its domain, the
 * addresses at which the SIP servers listen, and whatever host phones of the domain register at and call from, such as the
 * public address of a router in front of the servers. Everything else is somewhere else, however it is numbered.
 */
export class OwnHosts {
  readonly #listens: (host: string) => boolean;
  readonly #domainOf: (host: string) => DomainName | undefined;
  /** By domain; the host that was used last is at the end. */
  readonly #learnt = new Map<DomainName, Set<string>>();

  /**
   * @param listens whether a SIP server listens at this address
   * @param domainOf the domain of this name
   */
  constructor(listens: (host: string) => boolean, domainOf: (host: string) => DomainName | undefined) {
    this.#listens = listens;
    this.#domainOf = domainOf;
  }

  /** An account of the domain, which has proved itself, gave this host as its registrar or its own. */
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
