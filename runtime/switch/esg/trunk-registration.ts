/** Registers this platform with one provider. */
import { createHash } from 'node:crypto';
import type { Provider } from '../../domain/index.ts';
import type { RegistrationOptions, RegistrationOutcome, SipAnswer } from '../../signalling/index.ts';
import { providerUri } from './provider-callee.ts';

/** The state of the registration with a provider. */
export type TrunkState =
  | { readonly state: 'registering' }
  /** `until`: milliseconds since the epoch. `serviceRoute`: of calls to the provider (RFC 3608). */
  | { readonly state: 'registered'; readonly until: number; readonly serviceRoute?: readonly string[] }
  | { readonly state: 'failed'; readonly answer: SipAnswer | undefined; readonly retryAt: number }
  | { readonly state: 'ended' };

/** The registration that `SipLink.registration` makes. */
export interface Registers {
  register(expires: number): Promise<RegistrationOutcome>;
}

export interface TrunkRegistrationTools {
  /** Name of this node, the same after a restart, and another one for each node. */
  readonly node: string;
  /** User part of our Contact. */
  readonly contactUser: string;
  registration(options: RegistrationOptions): Registers;
  changed(provider: Provider, state: TrunkState, err?: unknown): void;
}

/** Milliseconds until the first retry. Each further failure doubles them, up to the maximum. */
const RETRY_MS = 5_000;
const MAX_RETRY_MS = 300_000;
/** Least milliseconds between two registrations where the provider goes on closing the connection. */
const LOST_MS = 1_000;
/** Share of the granted time after which the registration is renewed. */
const RENEW_AT = 0.8;

/** Keeps this platform registered with one provider, from `start` to `end`. */
export class TrunkRegistration {
  readonly provider: Provider;
  readonly contactUser: string;
  readonly #tools: TrunkRegistrationTools;
  readonly #registration: Registers;
  #state: TrunkState = { state: 'registering' };
  /** True once the registrar may know our Contact. */
  #bound = false;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();
  /** Of the last successful registration: where its answer came from, and when. */
  #from: { readonly address: string; readonly port: number; readonly at: number } | undefined;

  constructor(tools: TrunkRegistrationTools, provider: Provider) {
    this.#tools = tools;
    this.provider = provider;
    this.contactUser = tools.contactUser;
    this.#registration = tools.registration({
      registrar: providerUri(provider),
      domain: provider.fromDomain,
      user: provider.login,
      credentials: { username: provider.authUser, password: provider.secret },
      contactUser: this.contactUser,
      transport: provider.transport,
      ...(provider.transport !== 'udp' && { instance: instanceOf(tools.node, provider) }),
    });
  }

  get state(): TrunkState {
    return this.#state;
  }

  /** Registers, and keeps the registration renewed. */
  start(): void {
    this.#sending = this.#renew();
  }

  /** Stops renewing, and removes the registration at the provider if there is one. Never rejects. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    this.#become({ state: 'ended' });
    await this.#sending;
    if (!this.#bound) return;
    try {
      await this.#registration.register(0);
    } catch (error) {
      this.#tools.changed(this.provider, this.#state, error);
    }
  }

  /**
   * A connection of this node has ended. Calls over the one of the registration are lost until there is another one: it is
   * renewed.
   */
  connectionLost({ address, port }: { readonly address: string; readonly port: number }): void {
    const from = this.#from;
    if (this.#state.state !== 'registered' || from?.address !== address || from.port !== port) return;
    clearTimeout(this.#timer);
    this.#again(Math.max(0, from.at + LOST_MS - Date.now()));
  }

  async #renew(): Promise<void> {
    try {
      const outcome = await this.#registration.register(this.provider.registerExpires);
      this.#bound ||= outcome.registered;
      if (this.#state.state === 'ended') return;
      if (outcome.registered) {
        this.#from = { ...outcome.from, at: Date.now() };
        this.#registered(outcome.expires, outcome.serviceRoute);
      } else this.#failed(outcome.answer);
    } catch (error) {
      if (this.#state.state !== 'ended') this.#failed(undefined, error);
    }
  }

  #registered(expires: number, serviceRoute: readonly string[] | undefined): void {
    this.#failures = 0;
    const ms = expires * 1000;
    this.#become({ state: 'registered', until: Date.now() + ms, ...(serviceRoute && { serviceRoute }) });
    this.#again(Math.max(1000, ms * RENEW_AT));
  }

  #failed(answer: SipAnswer | undefined, err?: unknown): void {
    const delay = Math.min(RETRY_MS * 2 ** this.#failures++, MAX_RETRY_MS);
    this.#become({ state: 'failed', answer, retryAt: Date.now() + delay }, err);
    this.#again(delay);
  }

  #again(ms: number): void {
    this.#timer = setTimeout(() => this.start(), ms).unref();
  }

  #become(state: TrunkState, err?: unknown): void {
    this.#state = state;
    this.#tools.changed(this.provider, state, err);
  }
}

/** The URN of a node at a provider: after a restart the new Contact replaces the old one (RFC 5626 section 4.1). */
function instanceOf(node: string, { id }: Provider): string {
  const digest = createHash('sha256').update(`${node} ${id}`).digest('hex');
  return `urn:uuid:${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
}
