/** Keeps the number of label values bounded: every value costs memory on the node and in Prometheus for ever. */

/** Label value of everything over the limit. */
export const OTHER = 'other';

const MOST_DOMAINS = 200;
const MOST_IN_DOMAIN = 200;

/** Names within domains as label values: the first ones as they are, further ones as `other`. */
export class LabelLimit {
  readonly #known = new Map<string, Set<string>>();
  readonly #domains: number;
  readonly #inDomain: number;

  /** @param domains greatest number of domains @param inDomain greatest number of names in one */
  constructor(domains: number = MOST_DOMAINS, inDomain: number = MOST_IN_DOMAIN) {
    this.#domains = domains;
    this.#inDomain = inDomain;
  }

  /** The labels of a name; two `other` in a domain over the limit. */
  of(domain: string, name: string): { readonly domain: string; readonly name: string } {
    const known = this.#known.get(domain);
    if (known?.has(name) === true) return { domain, name };
    if (known === undefined && this.#known.size >= this.#domains) return { domain: OTHER, name: OTHER };
    const names = known ?? new Set<string>();
    if (names.size >= this.#inDomain) return { domain, name: OTHER };
    this.#known.set(domain, names.add(name));
    return { domain, name };
  }
}
