import { lookup } from 'node:dns/promises';
import { BlockList, isIP, isIPv6 } from 'node:net';
import type { Provider } from '../../domain/index.ts';

/** Where a request came from. */
export interface RequestSource {
  readonly protocol: 'udp' | 'tcp';
  readonly address: string;
  readonly port: number;
}

/** Milliseconds after which a provider's name is looked up again. */
const RESOLVE_MS = 300_000;

interface Known {
  readonly provider: Provider;
  /** Networks that the provider names; undefined: it sends from where its host is. */
  readonly networks: BlockList | undefined;
  /** What `host` resolves to. */
  hosts: readonly string[];
}

/**
 * Which provider a request from outside belongs to, by where it came from. A provider that registers, or whose gateway
 * registers here, is known by that as well; this is for the calls of all others.
 */
export class TrunkGate {
  readonly #onError: (err: unknown, provider: Provider) => void;
  #known: readonly Known[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** @param onError told when a provider's name cannot be resolved; what it last resolved to goes on to count */
  constructor(onError: (err: unknown, provider: Provider) => void) {
    this.#onError = onError;
  }

  /** Takes the providers there are now; settles when their names are resolved. */
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

  /** The providers that send from this address. Without networks of its own, a provider over UDP sends from its port. */
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
