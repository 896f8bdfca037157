import type { Directory, LocationStore, Provider } from '../../domain/index.ts';
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
import { TrunkGate } from './trunk-gate.ts';
import { contactAddress } from '../addresses/callee.ts';
import { providerUri } from './provider-callee.ts';
import { TrunkProbe } from './trunk-probe.ts';
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

/** The gateway role of a node: its registrations with providers, and which provider a call from outside belongs to. */
export class Trunks {
  readonly #directory: Directory;
  readonly #location: LocationStore;
  readonly #log: Log;
  readonly #gate: TrunkGate;
  /** By id of the provider. */
  readonly #registrations = new Map<string, TrunkRegistration>();
  readonly #byContactUser = new Map<string, TrunkRegistration>();
  /** By id of the provider. */
  readonly #probes = new Map<string, TrunkProbe>();
  readonly #board: TrunkBoard;
  readonly #unwatch: () => void;
  #links: TrunkLinks | undefined;
  #looking: NodeJS.Timeout | undefined;
  /** The providers in use, by id. */
  #providers: ReadonlyMap<string, Provider> = new Map();
  /** The providers whose gateways register here. */
  #registering: readonly Provider[] = [];

  /** @param changed called when the state of a provider, or whether it is reachable, has changed */
  constructor(
    directory: Directory,
    location: LocationStore,
    log: Log,
    changed: (provider: Provider, status: TrunkStatus) => void = () => undefined,
  ) {
    this.#directory = directory;
    this.#location = location;
    this.#log = log;
    this.#board = new TrunkBoard(changed);
    this.#gate = new TrunkGate((err, { code, host }) =>
      log.warn({ err, provider: code, host }, 'host of a provider not resolved'),
    );
    this.#unwatch = directory.onProviders(() => this.#update());
  }

  /** Registers with the providers that require it, and follows their changes. */
  start(links: TrunkLinks): void {
    this.#links = links;
    this.#looking = setInterval(() => this.#look(), LOOK_MS).unref();
    this.#update();
  }

  /** What this node knows of the enabled provider with this id. */
  status(id: string): TrunkStatus | undefined {
    this.#look();
    return this.#providers.has(id) ? this.#board.of(id) : undefined;
  }

  /** What this node knows of its enabled providers. */
  statuses(): readonly { readonly provider: Provider; readonly status: TrunkStatus }[] {
    this.#look();
    return [...this.#providers.values()].flatMap((provider) => {
      const status = this.#board.of(provider.id);
      return status === undefined ? [] : [{ provider, status }];
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
    const called = this.#byContactUser.get(target)?.provider.id;
    if (called !== undefined) return this.#providers.get(called);
    const source = sourceOf(req);
    const registered = this.#registering.find(({ id }) =>
      this.#location.contacts(id).some((binding) => isFromContact(binding, source)),
    );
    if (registered !== undefined) return registered;
    const there = this.#gate.from(source);
    if (there.length < 2) return there[0];
    // Several providers with one address, as with several accounts at one operator: the one with the called number.
    const number = this.dialled(req);
    return there.find(({ numbers }) => numbers.some((own) => own.matches(number))) ?? there[0];
  }

  /** The number that a provider calls. A call to our Contact has it in To, because the Request-URI names the Contact. */
  dialled(req: SrfRequest): string {
    const target = parseSipUri(req.uri)?.user ?? '';
    if (target !== '' && !this.#byContactUser.has(target)) return target;
    return parseSipUri(req.get('To') ?? '')?.user ?? '';
  }

  /** Removes the registrations at the providers. */
  async close(): Promise<void> {
    this.#unwatch();
    this.#gate.close();
    clearInterval(this.#looking);
    for (const probe of this.#probes.values()) probe.end();
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
      if (!this.#registrations.has(provider.id)) this.#begin(provider);
    }
    this.#board.keep(this.#providers);
    for (const provider of providers) {
      if (provider.register === 'none') this.#board.put(provider, UNREGISTERED);
      // Nobody asks these, so an earlier answer says nothing of now.
      if (provider.register !== 'outbound' && provider.ping === 0) this.#board.put(provider, { reachable: null });
    }
    this.#look();
    this.#probe(providers);
  }

  #begin(provider: Provider): void {
    const links = this.#links;
    if (links === undefined) return;
    const registration = new TrunkRegistration(
      { registration: (options) => links.registration(options), changed: (...change) => this.#changed(...change) },
      provider,
    );
    this.#board.put(provider, { state: 'registering', expires: null });
    this.#registrations.set(provider.id, registration);
    this.#byContactUser.set(registration.contactUser, registration);
    registration.start();
  }

  #end(registration: TrunkRegistration): Promise<void> {
    this.#registrations.delete(registration.provider.id);
    this.#byContactUser.delete(registration.contactUser);
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

  #probe(providers: readonly Provider[]): void {
    const wanted = new Map(providers.filter(({ ping }) => ping > 0).map((provider) => [provider.id, provider]));
    for (const [id, probe] of this.#probes) {
      const provider = wanted.get(id);
      if (provider !== undefined && probedOf(provider) === probedOf(probe.provider)) continue;
      probe.end();
      this.#probes.delete(id);
    }
    const links = this.#links;
    if (links === undefined) return;
    const tools = {
      ask: async (provider: Provider) => this.#ask(links, provider),
      answered: (provider: Provider, said: SipAnswer) =>
        this.#board.put(provider, { reachable: isPresent(said), answer: said }),
    };
    for (const [id, provider] of wanted) {
      if (!this.#probes.has(id)) this.#probes.set(id, new TrunkProbe(tools, provider));
    }
  }

  async #ask(links: TrunkLinks, provider: Provider): Promise<SipAnswer | undefined> {
    const from = `<${provider.login === '' ? `sip:${provider.fromDomain}` : plainUri(provider.login, provider.fromDomain)}>`;
    if (provider.register !== 'inbound') return links.options({ uri: providerUri(provider), from });
    const [contact] = this.#location.contacts(provider.id);
    return contact && links.options({ ...contactAddress(contact), from });
  }

  #put(provider: Provider, state: TrunkState): void {
    if (state.state === 'registered') {
      const granted = answer(200, undefined, false);
      this.#board.put(provider, { state: 'registered', reachable: true, expires: state.until, answer: granted });
    } else if (state.state === 'failed') {
      const said = state.answer ?? answer(503, 'No SIP server is connected', true);
      const reachable = isPresent(said);
      const name = reachable ? 'rejected' : 'unreachable';
      this.#board.put(provider, { state: name, reachable, expires: null, answer: said });
    }
  }

  #changed(provider: Provider, state: TrunkState, err?: unknown): void {
    const { code, domain } = provider;
    this.#put(provider, state);
    const details = { provider: code, domain, ...state, ...(err === undefined ? {} : { err }) };
    if (state.state === 'failed' || err !== undefined) this.#log.warn(details, 'registration with a provider failed');
    else this.#log.info(details, 'registration with a provider changed');
  }
}

const UNREGISTERED = { state: 'unregistered', expires: null } as const;

/** The settings of a probe. */
function probedOf({ host, port, transport, fromDomain, login, register, ping }: Provider): string {
  return JSON.stringify([host, port, transport, fromDomain, login, register, ping]);
}

/** The settings of a registration. A change of any of them needs a new registration. */
function settingsOf(provider: Provider): string {
  const { host, port, transport, fromDomain, login, authUser, secret, registerExpires } = provider;
  return JSON.stringify([host, port, transport, fromDomain, login, authUser, secret, registerExpires]);
}
