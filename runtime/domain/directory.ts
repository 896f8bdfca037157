/**
 * The domain-center as the call path reads it: in memory, synchronous, refreshed by the writes that go through it.
 * Numbers and logins are matched exactly; domain names without regard to case.
 */

export interface Domain {
  readonly id: string;
  readonly name: string;
  readonly isMaster: boolean;
  readonly parentId: string | undefined;
}

export interface SipUser {
  readonly id: string;
  readonly domain: string;
  readonly login: string;
  readonly phonenumber: string;
  readonly name: string;
  /** Owner in `iam`; undefined when nobody owns the account. */
  readonly userId: string | undefined;
  /** HA1 per digest algorithm, realm = domain (RFC 7616 section 3.4.2). */
  readonly ha1: { readonly md5: string; readonly sha256: string };
}

export interface FeatureCode {
  readonly id: string;
  readonly domain: string;
  /** What is dialled before the number, e.g. `*80`. */
  readonly prefix: string;
  readonly type: 'intercom' | 'conference' | 'ivr' | 'pickup';
  readonly opts: Readonly<Record<string, unknown>>;
}

/** A pattern of dialled numbers; see routing/pattern.ts. */
export interface NumberPattern {
  matches(number: string): boolean;
}

/** One step of a number's way in or out of a provider. */
export interface NumberRule {
  readonly pattern: NumberPattern;
  /** Characters taken from the front. */
  readonly strip: number;
  /** Characters put there instead. */
  readonly prepend: string;
}

/** An account at another operator: calls come from it and go to it. */
export interface Provider {
  readonly id: string;
  readonly domain: string;
  /** What routes name it by. */
  readonly code: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly host: string;
  readonly port: number;
  readonly transport: 'udp' | 'tcp';
  /** `outbound`: we register there; `inbound`: its gateway registers here; `none`: it is known by its address. */
  readonly register: 'none' | 'outbound' | 'inbound';
  /** Seconds asked for in a REGISTER. */
  readonly registerExpires: number;
  readonly login: string;
  readonly authUser: string;
  /** The password; empty when there is none. */
  readonly secret: string;
  /** HA1 of `login` in this domain, for a gateway that registers here. */
  readonly ha1: { readonly md5: string; readonly sha256: string };
  /** Domain of the provider's URIs. */
  readonly fromDomain: string;
  /** Addresses and networks that it sends from; none: where its host is. */
  readonly addresses: readonly string[];
  /** Called numbers that are the account's; none: all. */
  readonly numbers: readonly NumberPattern[];
  readonly mapping: {
    readonly inbound: readonly NumberRule[];
    readonly outbound: readonly NumberRule[];
    readonly callerid: readonly NumberRule[];
  };
  /** Calls at once, both ways; 0: no limit. */
  readonly maxCalls: number;
}

export type RouteTarget =
  | { readonly type: 'provider'; readonly code: string }
  | { readonly type: 'scenario'; readonly code: string }
  /** The number, without its first `strip` digits, as another domain dials it. */
  | { readonly type: 'domain'; readonly domain: string; readonly strip?: number }
  | { readonly type: 'reject'; readonly status: number };

/** What a dialled string means in a domain. */
export type RouteDecision =
  | { readonly kind: 'sipuser'; readonly sipuser: SipUser; readonly featureCode?: FeatureCode }
  /** `domain`: whose scenario, when not the caller's. */
  | { readonly kind: 'scenario'; readonly code: string; readonly domain?: string; readonly featureCode?: FeatureCode }
  /** `number`: as the domain dialled it. */
  | {
      readonly kind: 'provider';
      readonly provider: Provider;
      readonly number: string;
      readonly featureCode?: FeatureCode;
    }
  /** Take a call that rings at a sipuser of this number; without a number at anybody of the domain. */
  | { readonly kind: 'pickup'; readonly number: string | undefined; readonly featureCode: FeatureCode }
  | { readonly kind: 'conference'; readonly room: string; readonly featureCode: FeatureCode }
  | { readonly kind: 'reject'; readonly status: number; readonly reason: string };

export interface Directory {
  domain(name: string): Domain | undefined;
  domains(): readonly Domain[];
  sipUserByLogin(domain: string, login: string): SipUser | undefined;
  sipUserByNumber(domain: string, phonenumber: string): SipUser | undefined;
  sipUserById(id: string): SipUser | undefined;
  /** All providers of all domains, the disabled ones too. */
  providers(): readonly Provider[];
  /** The provider whose gateway registers in this domain with this login. */
  gateway(domain: string, login: string): Provider | undefined;
  /** Calls back after a change of the providers, until the function it gives is called. */
  onProviders(listener: () => void): () => void;
  sipUsersOfUser(userId: string): readonly SipUser[];
  /** The featurecode of a type, if the domain has one (the first by prefix). */
  featureCode(domain: string, type: FeatureCode['type']): FeatureCode | undefined;
  /**
   * Routes by the caller's and the dialled string: featurecodes by longest prefix first, then sipusers by number, then
   * by login, then the domain's routes by priority. `from` is undefined for calls the platform starts itself.
   */
  route(domain: string, from: string | undefined, dialled: string): RouteDecision;
}

/** A registered contact of a sipuser (RFC 3261 section 10). */
export interface ContactBinding {
  readonly sipUserId: string;
  /** The Contact URI as registered, e.g. `sip:alice@192.0.2.4:5062;transport=tcp`. */
  readonly contact: string;
  readonly callId: string;
  readonly cseq: number;
  /** Where the REGISTER came from: requests go there (RFC 3581, RFC 5626 section 5.3). */
  readonly source: { readonly protocol: 'udp' | 'tcp'; readonly address: string; readonly port: number };
  /** Name of the SIP server that it came to: a phone behind NAT, or on a connection, can be reached by no other. */
  readonly server?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly expires: number;
  readonly userAgent: string | undefined;
  /** Allow-Events of the device, lower case. */
  readonly allowEvents: readonly string[];
}

/** The location service: kept through restarts. */
export interface LocationStore {
  contacts(sipUserId: string): readonly ContactBinding[];
  save(binding: ContactBinding): Promise<void>;
  remove(sipUserId: string, contact: string): Promise<void>;
  removeAll(sipUserId: string): Promise<void>;
  count(): number;
}
