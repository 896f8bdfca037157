/** The gateways of providers: which are there, and in which order they are called. */
import type { Gateway, Provider } from '../../domain/index.ts';
import type { SipAnswer } from '../../signalling/index.ts';
import { inOrder } from './gateway-order.ts';
import { Probes } from './probes.ts';
import { isPresent, type LastAnswer } from './trunk-status.ts';

/** The state of a gateway as this node sees it. Times are milliseconds since the epoch. */
export interface GatewayStatus {
  /** By the last answer to OPTIONS, or by the last call; null while nothing was asked or called. */
  readonly reachable: boolean | null;
  /** The last change of `reachable`. */
  readonly since: number;
  /** The last answer to an OPTIONS of this node, or of a call that found nobody. */
  readonly answer: LastAnswer | null;
  /** Calls leave it out until then, as it asked by Retry-After; null: it did not. */
  readonly retryAt: number | null;
}

/** A gateway with its state. */
export interface KnownGateway {
  readonly gateway: Gateway;
  readonly status: GatewayStatus;
}

/** What calls to providers need of their gateways. */
export interface GatewayChoice {
  /** The gateways to call, in this order. */
  order(provider: Provider): readonly Gateway[];
  /** Whether a silent gateway answers OPTIONS. @param ms to wait. Never rejects. */
  isThere(provider: Provider, gateway: Gateway, ms: number): Promise<boolean>;
  /** The proxies that calls to the provider go through, as it says at the registration (RFC 3608). */
  serviceRoute(provider: Provider): readonly string[];
  /** Takes the final answer of a call to a gateway. */
  called(provider: Provider, gateway: Gateway, answer: SipAnswer): void;
}

/** Sends OPTIONS to a gateway. @param ms to wait; default: five seconds. Never rejects. */
export type AskGateway = (provider: Provider, gateway: Gateway, ms?: number) => Promise<SipAnswer>;

/** Seconds between two OPTIONS to a gateway that calls find gone, of a provider without an interval of its own. */
const RETRY_SECONDS = 30;

/** Longest time that a gateway is left alone at its own wish, ms. */
const MAX_REST_MS = 600_000;

/** Local answers of SIP servers where nobody answered, or the address could not be reached. */
const GONE = new Set([408, 410, 416, 503]);

/** True for an answer that a SIP server made up because the far end did not answer or was not reached. */
export function isGone({ status, local }: SipAnswer): boolean {
  return local && GONE.has(status);
}

interface Entry {
  readonly provider: Provider;
  readonly gateway: Gateway;
  status: GatewayStatus;
}

/** Follows the gateways of all providers. */
export class Gateways implements GatewayChoice {
  readonly #changed: (provider: Provider, gateway: Gateway, status: GatewayStatus) => void;
  readonly #probes = new Probes();
  #ask: AskGateway | undefined;
  /** By id of the provider. */
  readonly #routes = new Map<string, readonly string[]>();
  /** By id of the provider and name of the gateway. */
  #entries: ReadonlyMap<string, Entry> = new Map();

  /** @param changed called when a gateway is found gone, or there again */
  constructor(changed: (provider: Provider, gateway: Gateway, status: GatewayStatus) => void) {
    this.#changed = changed;
  }

  /** Asks from now on. */
  start(ask: AskGateway): void {
    this.#ask = ask;
  }

  /** Replaces the providers. A gateway that stays keeps its state. */
  update(providers: readonly Provider[]): void {
    const before = this.#entries;
    const all = providers.flatMap((provider) => provider.gateways.map((gateway) => ({ provider, gateway })));
    this.#entries = new Map(
      all.map(({ provider, gateway }) => {
        const key = keyOf(provider, gateway);
        const fresh: GatewayStatus = { reachable: null, since: Date.now(), answer: null, retryAt: null };
        return [key, { provider, gateway, status: before.get(key)?.status ?? fresh }];
      }),
    );
    const asked = [...this.#entries.values()].filter(
      ({ provider, status }) => provider.ping > 0 || status.reachable === false,
    );
    this.#probes.keep(asked.map((entry) => this.#probed(entry)));
  }

  close(): void {
    this.#probes.close();
  }

  of(provider: Provider): readonly KnownGateway[] {
    return provider.gateways.flatMap((gateway) => {
      const entry = this.#entries.get(keyOf(provider, gateway));
      return entry === undefined ? [] : [{ gateway, status: entry.status }];
    });
  }

  /** True when one is there, false when all are gone; null while that is not known. */
  reachable(provider: Provider): boolean | null {
    const each = this.of(provider).map(({ status }) => status.reachable);
    if (each.includes(true)) return true;
    return each.includes(null) ? null : false;
  }

  order(provider: Provider): readonly Gateway[] {
    const all = inOrder(provider.gateways);
    const now = Date.now();
    const present = all.filter((gateway) => {
      const { reachable = null, retryAt = null } = this.#entries.get(keyOf(provider, gateway))?.status ?? {};
      return reachable !== false && (retryAt === null || retryAt <= now);
    });
    // What this node knows may be old: with no gateway left, each gets a try.
    return present.length === 0 ? all : present;
  }

  serviceRoute({ id }: Provider): readonly string[] {
    return this.#routes.get(id) ?? [];
  }

  /** Takes the Service-Route of a registration; empty: none, or no registration. */
  routed({ id }: Provider, route: readonly string[]): void {
    if (route.length === 0) this.#routes.delete(id);
    else this.#routes.set(id, route);
  }

  async isThere(provider: Provider, gateway: Gateway, ms: number): Promise<boolean> {
    const said = await this.#ask?.(provider, gateway, ms);
    return said !== undefined && isPresent(said);
  }

  called(provider: Provider, gateway: Gateway, said: SipAnswer): void {
    const entry = this.#entries.get(keyOf(provider, gateway));
    if (entry === undefined) return;
    // A gateway that refuses a call is there, whatever its status.
    if (!said.local) {
      this.#put(entry, true);
      const rest = Math.min((said.retryAfter ?? 0) * 1000, MAX_REST_MS);
      entry.status = { ...entry.status, retryAt: rest === 0 ? null : Date.now() + rest };
    } else if (isGone(said)) this.#put(entry, false, said);
  }

  #put(entry: Entry, reachable: boolean, said?: SipAnswer): void {
    const { provider, gateway, status: before } = entry;
    const at = Date.now();
    const last = said === undefined ? before.answer : { status: said.status, reason: said.reason, at };
    const isSame = before.reachable === reachable;
    entry.status = { ...before, reachable, since: isSame ? before.since : at, answer: last };
    if (!reachable) this.#probes.begin(this.#probed(entry));
    else if (provider.ping === 0) this.#probes.end(keyOf(provider, gateway));
    if (!isSame) this.#changed(provider, gateway, entry.status);
  }

  #probed({ provider, gateway }: Entry) {
    const key = keyOf(provider, gateway);
    return {
      key,
      seconds: provider.ping === 0 ? RETRY_SECONDS : provider.ping,
      settings: JSON.stringify([provider.fromDomain, provider.login]),
      ask: async () => this.#ask?.(provider, gateway),
      answered: (said: SipAnswer) => {
        const entry = this.#entries.get(key);
        if (entry !== undefined) this.#put(entry, isPresent(said), said);
      },
    };
  }
}

function keyOf({ id }: Provider, { name }: Gateway): string {
  return `${id} ${name}`;
}
