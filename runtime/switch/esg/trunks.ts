import type { Directory, LocationStore, Provider } from '../../domain/index.ts';
import { type Log, parseSipUri, sourceOf, type SrfRequest } from '../../signalling/index.ts';
import { isFromContact } from '../addresses/next-hop.ts';
import { TrunkGate } from './trunk-gate.ts';
import { TrunkRegistration, type TrunkRegistrationTools, type TrunkState } from './trunk-registration.ts';

/** The gateway role of a node: its registrations with providers, and which provider a call from outside belongs to. */
export class Trunks {
  readonly #directory: Directory;
  readonly #location: LocationStore;
  readonly #log: Log;
  readonly #gate: TrunkGate;
  /** By id of the provider. */
  readonly #registrations = new Map<string, TrunkRegistration>();
  readonly #byContactUser = new Map<string, TrunkRegistration>();
  readonly #unwatch: () => void;
  #register: TrunkRegistrationTools['registration'] | undefined;
  /** The providers in use, by id. */
  #providers: ReadonlyMap<string, Provider> = new Map();
  /** The providers whose gateways register here. */
  #registering: readonly Provider[] = [];

  constructor(directory: Directory, location: LocationStore, log: Log) {
    this.#directory = directory;
    this.#location = location;
    this.#log = log;
    this.#gate = new TrunkGate((err, { code, host }) =>
      log.warn({ err, provider: code, host }, 'host of a provider not resolved'),
    );
    this.#unwatch = directory.onProviders(() => this.#update());
  }

  /** Registers with the providers that require it, and follows their changes. */
  start(register: TrunkRegistrationTools['registration']): void {
    this.#register = register;
    this.#update();
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
  }

  #begin(provider: Provider): void {
    if (this.#register === undefined) return;
    const registration = new TrunkRegistration(
      { registration: this.#register, changed: (...change) => this.#changed(...change) },
      provider,
    );
    this.#registrations.set(provider.id, registration);
    this.#byContactUser.set(registration.contactUser, registration);
    registration.start();
  }

  #end(registration: TrunkRegistration): Promise<void> {
    this.#registrations.delete(registration.provider.id);
    this.#byContactUser.delete(registration.contactUser);
    return registration.end();
  }

  #changed({ code, domain }: Provider, state: TrunkState, err?: unknown): void {
    const details = { provider: code, domain, ...state, ...(err === undefined ? {} : { err }) };
    if (state.state === 'failed' || err !== undefined) this.#log.warn(details, 'registration with a provider failed');
    else this.#log.info(details, 'registration with a provider changed');
  }
}

/** The settings of a registration. A change of any of them needs a new registration. */
function settingsOf(provider: Provider): string {
  const { host, port, transport, fromDomain, login, authUser, secret, registerExpires } = provider;
  return JSON.stringify([host, port, transport, fromDomain, login, authUser, secret, registerExpires]);
}
