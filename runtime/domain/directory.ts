/**
 * The domain-center for the call path: in memory, synchronous, updated by each write. Numbers and logins are matched
 * exactly; domain names ignoring case.
 */
import type { DomainName } from '../domain-name/index.ts';

export interface Domain {
  readonly id: string;
  /** As spelt in the table of domains; the rest of the node compares this spelling. */
  readonly name: DomainName;
  readonly isMaster: boolean;
  readonly parentId: string | undefined;
  /** Absent: `unregistered`. */
  readonly digest?: Digest | undefined;
  /** Absent: as a phone offers; plain sound is offered. */
  readonly srtp?: Srtp | undefined;
  /** Absent: `sdes`. */
  readonly srtpKeys?: SrtpKeys | undefined;
  /** Absent: those of the media server. */
  readonly codecs?: Codecs | undefined;
  /** Calls at once; absent and 0: no limit. */
  readonly maxCalls?: number | undefined;
}

/** Which calls and texts of phones need digest credentials: all, or those from elsewhere than a registered contact. */
export type Digest = 'always' | 'unregistered';

/** Codecs of calls, the best first: no others are used. */
export type Codecs = readonly ('opus' | 'G722' | 'PCMU' | 'PCMA')[];

/** Encryption of the sound of phones (RFC 3711): nothing else, offered, or none. */
export type Srtp = 'required' | 'preferred' | 'off';

/** Where a called phone gets the keys of encrypted sound: in the session description (RFC 4568), or by a handshake (RFC 5763). */
export type SrtpKeys = 'sdes' | 'dtls';

export interface SipUser {
  readonly id: string;
  readonly domain: DomainName;
  readonly login: string;
  readonly phonenumber: string;
  readonly name: string;
  /** Owner in `iam`; undefined for an account without owner. */
  readonly userId: string | undefined;
  /** HA1 per digest algorithm, realm = domain (RFC 7616 section 3.4.2). */
  readonly ha1: { readonly md5: string; readonly sha256: string };
  /** Absent: as the domain says. */
  readonly digest?: Digest | undefined;
  /** Absent: as the domain says. */
  readonly srtp?: Srtp | undefined;
  /** Absent: as the domain says. */
  readonly srtpKeys?: SrtpKeys | undefined;
  /** Absent: as the domain says. */
  readonly codecs?: Codecs | undefined;
}

export interface FeatureCode {
  readonly id: string;
  readonly domain: DomainName;
  /** Prefix before the number, e.g. `*80`. */
  readonly prefix: string;
  readonly type: 'intercom' | 'conference' | 'ivr' | 'pickup' | 'clir';
  readonly opts: Readonly<Record<string, unknown>>;
}

/** A pattern for dialled numbers; see routing/pattern.ts. */
export interface NumberPattern {
  matches(number: string): boolean;
}

/** A rewriting rule for numbers of a provider. */
export interface NumberRule {
  readonly pattern: NumberPattern;
  /** Number of characters removed from the front. */
  readonly strip: number;
  /** Characters put in their place. */
  readonly prepend: string;
}

/** `+4930123`, `4930123`, `004930123`, or `030123` for numbers of the own country. */
export type NumberFormat = 'e164' | 'digits' | 'international' | 'national';

/** How a provider and its domain write numbers. */
export interface Numbering {
  /** Country code. */
  readonly country: string;
  /** Dialled before numbers of the country; empty: none. */
  readonly national: string;
  /** Dialled before the country code of numbers abroad. */
  readonly international: string;
  /** Of the provider. */
  readonly format: NumberFormat;
  /** Of the domain. */
  readonly inside: NumberFormat;
}

/** One of several addresses of a provider, which its calls go to in turn (RFC 3263). */
export interface Gateway {
  /** `host:port`, beside UDP with `;transport=...`: its name in states, events, histories and logs. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly transport: Provider['transport'];
  /** Gateways with lower values are called first. */
  readonly priority: number;
  /** Share of the calls among gateways of one priority (RFC 2782). */
  readonly weight: number;
}

/** How SIP goes to a provider; `sips`: TLS with `sips` URIs. */
export type ProviderTransport = 'udp' | 'tcp' | 'tls' | 'sips';

/** An account at another operator, for incoming and outgoing calls. */
export interface Provider {
  readonly id: string;
  readonly domain: DomainName;
  /** Code in routes. */
  readonly code: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly host: string;
  readonly port: number;
  readonly transport: ProviderTransport;
  /** `outbound`: we register there; `inbound`: its gateway registers here; `none`: identified by its address. */
  readonly register: 'none' | 'outbound' | 'inbound';
  /** Absent: as the domain says. */
  readonly codecs?: Codecs | undefined;
  /** Expiry requested in a REGISTER, in seconds. */
  readonly registerExpires: number;
  readonly login: string;
  readonly authUser: string;
  /** The password; empty: none. */
  readonly secret: string;
  /** HA1 of `login` in this domain, for a gateway that registers here. */
  readonly ha1: { readonly md5: string; readonly sha256: string };
  /** Seconds between two OPTIONS that ask whether it is there; 0: it is not asked. */
  readonly ping: number;
  /** Undefined: numbers stay as they are. */
  readonly numbering: Numbering | undefined;
  /** How callers are named between it and this platform. */
  readonly identity: {
    /** Its P-Asserted-Identity is believed. */
    readonly trusted: boolean;
    /** The header in which it gets the caller. */
    readonly send: 'none' | 'asserted' | 'preferred';
    /** Calls to it are signed, and signatures of its calls are verified (RFC 8224). */
    readonly sign: boolean;
    readonly verify: boolean;
  };
  /** Where calls go, in place of the host; empty: to the host. */
  readonly gateways: readonly Gateway[];
  /** Milliseconds of silence after which the next gateway is called; 0: as long as the SIP server waits. */
  readonly gatewayTimeoutMs: number;
  /** Encryption of the sound; undefined: as the provider offers, and plain sound for it. */
  readonly srtp?: Srtp | undefined;
  /** Absent: `sdes`. */
  readonly srtpKeys?: SrtpKeys | undefined;
  /** Domain of the provider's URIs. */
  readonly fromDomain: string;
  /** Its source addresses and networks; empty: the addresses of its host. */
  readonly addresses: readonly string[];
  /** Patterns of the account's called numbers; empty: all. */
  readonly numbers: readonly NumberPattern[];
  readonly mapping: {
    readonly inbound: readonly NumberRule[];
    readonly outbound: readonly NumberRule[];
    readonly callerid: readonly NumberRule[];
  };
  /** Largest number of concurrent calls in both directions; 0: unlimited. */
  readonly maxCalls: number;
}

export type RouteTarget =
  | { readonly type: 'provider'; readonly code: string }
  | { readonly type: 'scenario'; readonly code: string; readonly language?: string }
  /** The number without its first `strip` digits, dialled in another domain. */
  | { readonly type: 'domain'; readonly domain: string; readonly strip?: number }
  | { readonly type: 'reject'; readonly status: number };

/** Meaning of a dialled string in a domain. */
export type RouteDecision =
  | { readonly kind: 'sipuser'; readonly sipuser: SipUser; readonly featureCode?: FeatureCode }
  /** `domain`: the scenario's domain, if not the caller's. */
  | {
      readonly kind: 'scenario';
      readonly code: string;
      /** Language tag of the run, if the route names one. */
      readonly language?: string;
      readonly domain?: DomainName;
      readonly featureCode?: FeatureCode;
    }
  /** `number`: as dialled in the domain. */
  | {
      readonly kind: 'provider';
      readonly provider: Provider;
      readonly number: string;
      readonly featureCode?: FeatureCode;
    }
  /** Picks up a call that rings at this number; without a number, any ringing call of the domain. */
  | { readonly kind: 'pickup'; readonly number: string | undefined; readonly featureCode: FeatureCode }
  | { readonly kind: 'conference'; readonly room: string; readonly featureCode: FeatureCode }
  | { readonly kind: 'reject'; readonly status: number; readonly reason: string };

export interface Directory {
  /** The domain of this name, regardless of case. Names from outside become a DomainName here. */
  domain(name: string): Domain | undefined;
  domains(): readonly Domain[];
  sipUserByLogin(domain: DomainName, login: string): SipUser | undefined;
  sipUserByNumber(domain: DomainName, phonenumber: string): SipUser | undefined;
  sipUserById(id: string): SipUser | undefined;
  /** All providers of all domains, including disabled ones. */
  providers(): readonly Provider[];
  /** The provider whose gateway registers in this domain with this login. */
  gateway(domain: DomainName, login: string): Provider | undefined;
  /** Calls back after a change of the providers; returns the function that unsubscribes. */
  onProviders(listener: () => void): () => void;
  sipUsersOfUser(userId: string): readonly SipUser[];
  /** The domain's featurecode of a type, the first by prefix. */
  featureCode(domain: DomainName, type: FeatureCode['type']): FeatureCode | undefined;
  /**
   * Routes by the caller's and the dialled string: featurecodes by longest prefix first, then sipusers by number, then
   * by login, then the domain's routes by priority. `callerNumber` is undefined for calls from the platform itself.
   */
  route(domain: DomainName, callerNumber: string | undefined, dialled: string): RouteDecision;
}

/** A registered contact of a sipuser (RFC 3261 section 10). */
export interface ContactBinding {
  readonly sipUserId: string;
  /** The Contact URI as registered, e.g. `sip:alice@192.0.2.4:5062;transport=tcp`. */
  readonly contact: string;
  readonly callId: string;
  readonly cseq: number;
  /** Source of the REGISTER and target of requests (RFC 3581, RFC 5626 section 5.3). */
  readonly source: {
    readonly protocol: 'udp' | 'tcp' | 'tls' | 'ws' | 'wss';
    readonly address: string;
    readonly port: number;
  };
  /** Name of the SIP server that received it: only this server can reach a phone behind NAT or on a connection. */
  readonly server?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly expires: number;
  readonly userAgent: string | undefined;
  /** Allow-Events of the device, lower case. */
  readonly allowEvents: readonly string[];
  /** Proxies between this platform and the phone, the nearest first (RFC 3327); absent: none. */
  readonly path?: readonly string[];
  /** The device, and its connection (RFC 5626): a new contact of both replaces the old one. */
  readonly instance?: string | undefined;
  readonly regId?: number | undefined;
}

/** The location service, which keeps contacts across restarts. */
export interface LocationStore {
  contacts(sipUserId: string): readonly ContactBinding[];
  save(binding: ContactBinding): Promise<void>;
  remove(sipUserId: string, contact: string): Promise<void>;
  removeAll(sipUserId: string): Promise<void>;
  count(): number;
  /** @param listener called with an account whose contacts have changed; renewals count */
  onChange(listener: (sipUserId: string) => void): void;
}
