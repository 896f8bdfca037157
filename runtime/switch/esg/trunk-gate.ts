/** Finds the provider of a request by its source address. */
import { lookup } from 'node:dns/promises';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { plainAddress } from '../../sip-facts/index.ts';
import type { Provider } from '../../domain/index.ts';
import type { RequestSource } from '../../signalling/index.ts';

/** Milliseconds after which the hosts of providers are resolved again. */
const RESOLVE_MS = 300_000;

/** The host of a provider, or of one of its gateways. */
interface Place {
  readonly host: string;
  readonly port: number;
  readonly transport: Provider['transport'];
  /** What `host` resolves to. */
  addresses: readonly string[];
}

interface Known {
  readonly provider: Provider;
  /** Configured networks of the provider; undefined: it sends from the addresses of its host and its gateways. */
  readonly networks: BlockList | undefined;
  readonly places: readonly Place[];
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
    const before = new Map(this.#known.flatMap(({ places }) => places.map(({ host, addresses }) => [host, addresses])));
    this.#known = providers.map((provider) => ({
      provider,
      networks: networksOf(provider.addresses),
      places: [provider, ...provider.gateways].map(({ host, port, transport }) => ({
        host,
        port,
        transport,
        addresses: isIP(host) === 0 ? (before.get(host) ?? []) : [plainAddress(host)],
      })),
    }));
    await this.#resolve();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#known = [];
  }

  /**
   * The providers that send from this address. Without configured networks, one on UDP must send from its own port, and one
   * on TLS by TLS. A WebSocket is a browser's, and may come from the address of a proxy.
   */
  from({ protocol, address, port }: RequestSource): readonly Provider[] {
    if (protocol === 'ws' || protocol === 'wss') return [];
    const found = this.#known.filter(({ networks, places }) => {
      if (networks !== undefined) return networks.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
      return places.some(
        (place) =>
          place.addresses.includes(address) &&
          (protocol !== 'udp' || place.port === port) &&
          (protocol === 'tls' || !isSecure(place)),
      );
    });
    return found.map(({ provider }) => provider);
  }

  async #resolve(): Promise<void> {
    const named = this.#known.flatMap(({ provider, places }) =>
      places.filter(({ host }) => isIP(host) === 0).map((place) => ({ provider, place })),
    );
    if (named.length === 0) return;
    await Promise.all(
      named.map(async ({ provider, place }) => {
        try {
          place.addresses = (await lookup(place.host, { all: true })).map(({ address }) => address);
        } catch (error) {
          this.#onError(error, provider);
        }
      }),
    );
    this.#timer = setTimeout(() => void this.#resolve(), RESOLVE_MS).unref();
  }
}

function isSecure({ transport }: Place): boolean {
  return transport === 'tls' || transport === 'sips';
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
