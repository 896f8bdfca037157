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
  readonly type: 'intercom' | 'conference' | 'ivr';
  readonly opts: Readonly<Record<string, unknown>>;
}

export type RouteTarget =
  | { readonly type: 'scenario'; readonly code: string }
  | { readonly type: 'reject'; readonly status: number };

/** What a dialled string means in a domain. */
export type RouteDecision =
  | { readonly kind: 'sipuser'; readonly sipuser: SipUser; readonly featureCode?: FeatureCode }
  | { readonly kind: 'scenario'; readonly code: string; readonly featureCode?: FeatureCode }
  | { readonly kind: 'conference'; readonly room: string; readonly featureCode: FeatureCode }
  | { readonly kind: 'reject'; readonly status: number; readonly reason: string };

export interface Directory {
  domain(name: string): Domain | undefined;
  domains(): readonly Domain[];
  sipUserByLogin(domain: string, login: string): SipUser | undefined;
  sipUserByNumber(domain: string, phonenumber: string): SipUser | undefined;
  sipUserById(id: string): SipUser | undefined;
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
