import type { Directory, Gateway, LocationStore, Provider } from '../../domain/index.ts';
import {
  answer,
  type Log,
  type OutgoingOptionsOptions,
  parseSipUri,
  plainUri,
  type SipAnswer,
  sourceOf,
  type SrfRequest,
} from '../../signalling/index.ts';
import { isFromContact } from '../addresses/next-hop.ts';
import { ContactUsers } from './contact-users.ts';
import { TrunkGate } from './trunk-gate.ts';
import { contactAddress } from '../addresses/callee.ts';
import { providerUri } from './provider-callee.ts';
import { Gateways, type GatewayStatus, type KnownGateway } from './gateways.ts';
import { isOwnNumber } from './number-rules.ts';
import { Probes } from './probes.ts';
import { TrunkRegistration, type TrunkRegistrationTools, type TrunkState } from './trunk-registration.ts';
import { isPresent, TrunkBoard, type TrunkStatus } from './trunk-status.ts';

/** Milliseconds between two looks at the registrations of gateways here. */
const LOOK_MS = 1_000;

/** What the gateway role sends. */
export interface TrunkLinks {
  registration: TrunkRegistrationTools['registration'];
  /** Never rejects. */
  options(options: OutgoingOptionsOptions): Promise<SipAnswer>;
}

/** Called when the state of a provider or gateway, or whether it is reachable, has changed. */
export interface TrunkListeners {
  readonly trunk?: ((provider: Provider, status: TrunkStatus) => void) | undefined;
  readonly gateway?: ((provider: Provider, gateway: Gateway, status: GatewayStatus) => void) | undefined;
}

export interface TrunkOptions extends TrunkListeners {
  /** Name of the node, the same after a restart. */
  readonly node: string;
  /** False: other nodes register with providers. */
  readonly registers: boolean;
  /** The secret of all nodes; absent on a single node. */
  readonly key?: () => Uint8Array;
}

/** A provider, and what a node knows of it. */
export interface KnownTrunk {
  readonly provider: Provider;
  readonly status: TrunkStatus;
  /** Of a provider with several gateways. */
  readonly gateways: readonly KnownGateway[];
}

/** The gateway role of a node: its registrations with providers, and which provider a call from outside belongs to. */
export class Trunks {
  readonly #directory: Directory;
  readonly #location: LocationStore;
  readonly #log: Log;
  readonly #node: string;
  readonly #registers: boolean;
  readonly #contactUsers: ContactUsers;
  readonly #gate: TrunkGate;
  /** By id of the provider. */
  readonly #registrations = new Map<string, TrunkRegistration>();
  readonly #probes = new Probes();
  readonly #board: TrunkBoard;
  readonly gateways: Gateways;
  readonly #unwatch: () => void;
  #links: TrunkLinks | undefined;
  #looking: NodeJS.Timeout | undefined;
  /** The providers in use, by id. */
  #providers: ReadonlyMap<string, Provider> = new Map();
  /** The providers whose gateways register here. */
  #registering: readonly Provider[] = [];

  constructor(
    directory: Directory,
    location: LocationStore,
    log: Log,
    { node, registers, key, ...listeners }: TrunkOptions,
  ) {
    const { trunk: changed = () => undefined, gateway: gatewayChanged = () => undefined } = listeners;
    this.#directory = directory;
    this.#location = location;
    this.#log = log;
    this.#node = node;
    this.#registers = registers;
    this.#contactUsers = new ContactUsers(key);
    this.#board = new TrunkBoard(changed);
    this.gateways = new Gateways((provider, gateway, status) => {
      const { code, domain } = provider;
      const details = { provider: code, domain, gateway: gateway.name, answer: status.answer };
      if (status.reachable === true) log.info(details, 'gateway of a provider is there');
      else log.warn(details, 'gateway of a provider is gone: calls leave it out until it answers OPTIONS');
      this.#board.put(provider, { reachable: this.gateways.reachable(provider) });
      gatewayChanged(provider, gateway, status);
    });
    this.#gate = new TrunkGate((err, { code, host }) =>
      log.warn({ err, provider: code, host }, 'host of a provider not resolved'),
    );
    this.#unwatch = directory.onProviders(() => this.#update());
  }

  /** Registers with the providers that require it, and follows their changes. */
  start(links: TrunkLinks): void {
    this.#links = links;
    this.gateways.start((provider, gateway, ms) =>
      links.options({ uri: providerUri(gateway), from: fromOf(provider), patienceMs: ms }),
    );
    this.#looking = setInterval(() => this.#look(), LOOK_MS).unref();
    this.#update();
  }

  /** What this node knows of the enabled provider with this id. */
  status(id: string): Omit<KnownTrunk, 'provider'> | undefined {
    this.#look();
    const provider = this.#providers.get(id);
    const status = this.#board.of(id);
    if (provider === undefined || status === undefined) return undefined;
    return { status, gateways: this.gateways.of(provider) };
  }

  /** What this node knows of its enabled providers. */
  statuses(): readonly KnownTrunk[] {
    return [...this.#providers.values()].flatMap((provider) => {
      const known = this.status(provider.id);
      return known === undefined ? [] : [{ provider, ...known }];
    });
  }

  /** The states of the registrations, by id of the provider. */
  states(): ReadonlyMap<string, TrunkState> {
    return new Map([...this.#registrations].map(([id, { state }]) => [id, state]));
  }

  /**
   * The provider that a request comes from; undefined for a request of no known provider. In this order: the provider at
   * which the called Contact is registered, one whose gateway is registered here, one that sends from this address.
   */
  identify(req: SrfRequest): Provider | undefined {
    const target = parseSipUri(req.uri)?.user ?? '';
    const called = this.#calledAt(target);
    if (called !== undefined) return called;
    const source = sourceOf(req);
    const registered = this.#registering.find(({ id }) =>
      this.#location.contacts(id).some((binding) => isFromContact(binding, source)),
    );
    if (registered !== undefined) return registered;
    const there = this.#gate.from(source);
    if (there.length < 2) return there[0];
    // Several providers with one address, as with several accounts at one operator: the one with the called number.
    const number = this.dialled(req);
    return there.find((provider) => isOwnNumber(provider, number)) ?? there[0];
  }

  /** The number that a provider calls. A call to our Contact has it in To, because the Request-URI names the Contact. */
  dialled(req: SrfRequest): string {
    const target = parseSipUri(req.uri)?.user ?? '';
    if (target !== '' && this.#calledAt(target) === undefined) return target;
    return parseSipUri(req.get('To') ?? '')?.user ?? '';
  }

  /** The provider that has this user part of a Contact, from this node or another one. */
  #calledAt(user: string): Provider | undefined {
    // Without NATS at the start, the secret was another one.
    for (const { contactUser, provider } of this.#registrations.values())
      if (contactUser === user) return this.#providers.get(provider.id);
    for (const provider of this.#providers.values())
      if (provider.register === 'outbound' && this.#contactUsers.isOf(user, provider.id)) return provider;
    return undefined;
  }

  /** Removes the registrations at the providers. */
  async close(): Promise<void> {
    this.#unwatch();
    this.#gate.close();
    clearInterval(this.#looking);
    this.#probes.close();
    this.gateways.close();
    await Promise.all([...this.#registrations.values()].map((registration) => this.#end(registration)));
  }

  #update(): void {
    const providers = this.#directory.providers().filter(({ enabled }) => enabled);
    this.#providers = new Map(providers.map((provider) => [provider.id, provider]));
    this.#registering = providers.filter(({ register }) => register === 'inbound');
    void this.#gate.update(providers);
    const wanted = providers.filter(({ register }) => register === 'outbound');
    for (const registration of this.#registrations.values()) {
      const { provider } = registration;
      const same = wanted.some((one) => one.id === provider.id && settingsOf(one) === settingsOf(provider));
      if (!same) void this.#end(registration);
    }
    for (const provider of wanted) {
      if (!this.#registers) this.#board.put(provider, UNREGISTERED);
      else if (!this.#registrations.has(provider.id)) this.#begin(provider);
    }
    this.#board.keep(this.#providers);
    for (const provider of providers) {
      if (provider.register === 'none') this.#board.put(provider, UNREGISTERED);
      // Nobody asks these, so an earlier answer says nothing of now.
      const asked =
        (provider.register === 'outbound' && this.#registers) || provider.ping > 0 || provider.gateways.length > 0;
      if (!asked) this.#board.put(provider, { reachable: null });
    }
    this.#look();
    this.#probe(providers);
    for (const provider of providers)
      if (provider.gateways.length > 0) this.#board.put(provider, { reachable: this.gateways.reachable(provider) });
  }

  /** A connection that this node registered over has ended. */
  connectionLost(far: { readonly address: string; readonly port: number }): void {
    for (const registration of this.#registrations.values()) registration.connectionLost(far);
  }

  #begin(provider: Provider): void {
    const links = this.#links;
    if (links === undefined) return;
    const registration = new TrunkRegistration(
      {
        node: this.#node,
        contactUser: this.#contactUsers.fresh(provider.id),
        registration: (options) => links.registration(options),
        changed: (...change) => this.#changed(...change),
      },
      provider,
    );
    this.#board.put(provider, { state: 'registering', expires: null });
    this.#registrations.set(provider.id, registration);
    registration.start();
  }

  #end(registration: TrunkRegistration): Promise<void> {
    this.#registrations.delete(registration.provider.id);
    return registration.end();
  }

  /** Whose gateways are registered here. */
  #look(): void {
    for (const provider of this.#registering) {
      const expires = this.#location.contacts(provider.id).map((binding) => binding.expires);
      if (expires.length === 0) this.#board.put(provider, UNREGISTERED);
      else this.#board.put(provider, { state: 'registered', expires: Math.max(...expires) });
    }
  }

  /** Asks whole providers; one with several gateways is there as they are. */
  #probe(providers: readonly Provider[]): void {
    const links = this.#links;
    if (links === undefined) return;
    const asked = providers.filter(({ ping, gateways }) => ping > 0 && gateways.length === 0);
    this.#probes.keep(
      asked.map((provider) => ({
        key: provider.id,
        seconds: provider.ping,
        settings: probedOf(provider),
        ask: async () => this.#ask(links, provider),
        answered: (said) => this.#board.put(provider, { reachable: isPresent(said), answer: said }),
      })),
    );
    this.gateways.update(providers);
  }

  async #ask(links: TrunkLinks, provider: Provider): Promise<SipAnswer | undefined> {
    const from = fromOf(provider);
    if (provider.register !== 'inbound') return links.options({ uri: providerUri(provider), from });
    const [contact] = this.#location.contacts(provider.id);
    return contact && links.options({ ...contactAddress(contact), from });
  }

  #put(provider: Provider, state: TrunkState): void {
    if (state.state === 'registered') {
      const granted = answer(200, undefined, false);
      this.#board.put(provider, {
        state: 'registered',
        ...this.#reached(provider, true),
        expires: state.until,
        answer: granted,
      });
    } else if (state.state === 'failed') {
      const said = state.answer ?? answer(503, 'No SIP server is connected', true);
      const reachable = isPresent(said);
      const name = reachable ? 'rejected' : 'unreachable';
      this.#board.put(provider, { state: name, ...this.#reached(provider, reachable), expires: null, answer: said });
    }
  }

  /** The registrar says nothing of gateways elsewhere. */
  #reached(provider: Provider, reachable: boolean): { readonly reachable?: boolean } {
    return provider.gateways.length === 0 ? { reachable } : {};
  }

  #changed(provider: Provider, state: TrunkState, err?: unknown): void {
    const { code, domain } = provider;
    this.gateways.routed(provider, (state.state === 'registered' && state.serviceRoute) || []);
    this.#put(provider, state);
    const details = { provider: code, domain, ...state, ...(err === undefined ? {} : { err }) };
    if (state.state === 'failed' || err !== undefined) this.#log.warn(details, 'registration with a provider failed');
    else this.#log.info(details, 'registration with a provider changed');
  }
}

const UNREGISTERED = { state: 'unregistered', expires: null } as const;

/** From of requests outside of calls. */
function fromOf({ login, fromDomain }: Provider): string {
  return `<${login === '' ? `sip:${fromDomain}` : plainUri(login, fromDomain)}>`;
}

/** The settings of a probe, beside its interval. */
function probedOf({ host, port, transport, fromDomain, login, register }: Provider): string {
  return JSON.stringify([host, port, transport, fromDomain, login, register]);
}

/** The settings of a registration. A change of any of them needs a new registration. */
function settingsOf(provider: Provider): string {
  const { host, port, transport, fromDomain, login, authUser, secret, registerExpires } = provider;
  return JSON.stringify([host, port, transport, fromDomain, login, authUser, secret, registerExpires]);
}
