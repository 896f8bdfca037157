/** Finds the provider of a request by its source address. */
import { lookup } from 'node:dns/promises';
import { BlockList, isIP, isIPv6 } from 'node:net';
import type { Provider } from '../../domain/index.ts';

/** Where a request came from. */
export interface RequestSource {
  readonly protocol: 'udp' | 'tcp';
  readonly address: string;
  readonly port: number;
}

/** Milliseconds after which the hosts of providers are resolved again. */
const RESOLVE_MS = 300_000;

interface Known {
  readonly provider: Provider;
  /** Configured networks of the provider; undefined: it sends from the addresses of its host. */
  readonly networks: BlockList | undefined;
  /** What `host` resolves to. */
  hosts: readonly string[];
}

/**
 * Finds the provider of a request from outside by its source address. Providers with a registration are known by that
 * too (`Trunks.identify`); all others are known by their addresses alone.
 */
export class TrunkGate {
  readonly #onError: (err: unknown, provider: Provider) => void;
  #known: readonly Known[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** @param onError called when a provider's host cannot be resolved; its last known addresses stay in use */
  constructor(onError: (err: unknown, provider: Provider) => void) {
    this.#onError = onError;
  }

  /** Replaces the providers; settles when their hosts are resolved. */
  async update(providers: readonly Provider[]): Promise<void> {
    clearTimeout(this.#timer);
    const before = new Map(this.#known.map((known) => [known.provider.host, known.hosts]));
    this.#known = providers.map((provider) => ({
      provider,
      networks: networksOf(provider.addresses),
      hosts: isIP(provider.host) === 0 ? (before.get(provider.host) ?? []) : [provider.host],
    }));
    await this.#resolve();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#known = [];
  }

  /** The providers that send from this address. Without configured networks, one on UDP must send from its own port. */
  from({ protocol, address, port }: RequestSource): readonly Provider[] {
    const found = this.#known.filter(({ provider, networks, hosts }) => {
      if (networks !== undefined) return networks.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
      return hosts.includes(address) && (protocol !== 'udp' || provider.port === port);
    });
    return found.map(({ provider }) => provider);
  }

  async #resolve(): Promise<void> {
    const named = this.#known.filter(({ provider }) => isIP(provider.host) === 0);
    if (named.length === 0) return;
    await Promise.all(
      named.map(async (known) => {
        try {
          known.hosts = (await lookup(known.provider.host, { all: true })).map(({ address }) => address);
        } catch (error) {
          this.#onError(error, known.provider);
        }
      }),
    );
    this.#timer = setTimeout(() => void this.#resolve(), RESOLVE_MS).unref();
  }
}

function networksOf(addresses: readonly string[]): BlockList | undefined {
  if (addresses.length === 0) return undefined;
  const list = new BlockList();
  for (const text of addresses) {
    const [address = '', prefix] = text.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}
