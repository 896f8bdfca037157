/** Finds and authenticates the accounts behind requests. */
import type { DomainName } from '../../domain-name/index.ts';
import type { Directory, LocationStore, Provider, SipUser } from '../../domain/index.ts';
import {
  DigestAuthenticator,
  type DigestSecret,
  type Log,
  parseSipUri,
  sourceOf,
  type SrfRequest,
  type SrfResponse,
} from '../../signalling/index.ts';
import type { Trunks } from '../esg/trunks.ts';
import { isFromContact } from '../addresses/next-hop.ts';
import type { OwnHosts } from '../addresses/own-hosts.ts';
import type { DigestBan } from './digest-ban.ts';
import type { SourceRate } from './source-rate.ts';

/** Why a request was refused: a sender beyond its rate, a wrong password, or a ban after wrong ones. */
export type SenderRefusal = 'rate' | 'password' | 'ban';

/** Bounds what senders may ask of the switch whom nobody vouches for. */
export interface SenderLimits {
  /** Counts a refused request. */
  readonly refused?: (reason: SenderRefusal) => void;
  readonly ban: DigestBan;
  readonly rate: SourceRate;
  /** Signs challenges, at all nodes of a cluster the same. Absent: a key of this switch. */
  readonly digestKey?: (() => Uint8Array) | undefined;
}

/** Seconds that a sender beyond its rate should wait. */
const RETRY_AFTER = '1';
/** Senders beyond their rate are logged at most this often, in milliseconds. */
const WARN_MS = 60_000;

/** Refuses a request with a status and headers. */
type Refuse = (status: number, headers: Record<string, string>) => void;

/** An account with a secret: a sipuser, or a provider whose gateway registers here. */
export type Account =
  | { readonly kind: 'sipuser'; readonly sipUser: SipUser }
  | { readonly kind: 'provider'; readonly provider: Provider };

/**
 * Authenticates phones and gateways. A REGISTER always needs digest credentials. A call needs none if it comes from a
 * registered contact of its account, or from an address of a provider; any other call is challenged. Requests that need a
 * password are bounded for each address, and end for a while after wrong ones.
 */
export class Authentication {
  readonly #directory: Directory;
  readonly #location: LocationStore;
  readonly #trunks: Trunks;
  readonly #ownHosts: OwnHosts;
  readonly #limits: SenderLimits;
  readonly #log: Log;
  readonly #digest: DigestAuthenticator;
  #warned = Number.NEGATIVE_INFINITY;

  /** @param ownHosts learns the hosts under which phones reach this platform */
  constructor(
    directory: Directory,
    location: LocationStore,
    trunks: Trunks,
    ownHosts: OwnHosts,
    limits: SenderLimits,
    log: Log,
  ) {
    this.#ownHosts = ownHosts;
    this.#limits = limits;
    this.#digest = new DigestAuthenticator(undefined, limits.digestKey);
    this.#log = log;
    this.#directory = directory;
    this.#location = location;
    this.#trunks = trunks;
  }

  /** The authenticated account of a REGISTER; undefined when the request has been refused. */
  register(req: SrfRequest, res: SrfResponse): Account | undefined {
    const aor = parseSipUri(req.get('To') ?? '');
    const domain = this.#domainOf(aor?.host) ?? this.#domainOf(parseSipUri(req.uri)?.host) ?? this.#onlyDomain();
    const refuse: Refuse = (status, headers) => res.send(status, { headers });
    if (aor === undefined || domain === undefined) {
      refuse(404, {});
      return undefined;
    }
    const account = this.#digestUser(req, domain, req.get('Authorization'), 401, refuse);
    if (account === undefined) return undefined;
    if (!namesOf(account).includes(aor.user)) {
      refuse(403, {});
      return undefined;
    }
    for (const uri of [aor, parseSipUri(req.uri)]) this.#learn(domain, uri?.host);
    return account;
  }

  /** The account that places a call or sends a text; undefined when `refuse` has answered. */
  caller(req: SrfRequest, refuse: Refuse): Account | undefined {
    const account = this.#caller(req, (status, headers) => {
      this.#log.debug({ callid: req.get('Call-ID'), method: req.method, status }, 'caller refused');
      refuse(status, headers);
    });
    if (account?.kind !== 'sipuser') return account;
    const from = parseSipUri(req.get('From') ?? '');
    if (from !== undefined && namesOf(account).includes(from.user)) this.#learn(account.sipUser.domain, from.host);
    return account;
  }

  #caller(req: SrfRequest, refuse: Refuse): Account | undefined {
    const from = parseSipUri(req.get('From') ?? '');
    const domain = this.#domainOf(from?.host) ?? this.#domainOf(parseSipUri(req.uri)?.host) ?? this.#onlyDomain();
    const claimed = from === undefined || domain === undefined ? undefined : this.#claimed(domain, from.user);
    if (claimed !== undefined && this.#isTrusted(claimed, req)) return { kind: 'sipuser', sipUser: claimed };
    const provider = this.#trunks.identify(req);
    if (provider !== undefined) return { kind: 'provider', provider };
    if (from === undefined || domain === undefined) {
      refuse(403, {});
      return undefined;
    }
    return this.#digestUser(req, domain, req.get('Proxy-Authorization') ?? req.get('Authorization'), 407, refuse);
  }

  #digestUser(
    req: SrfRequest,
    domain: DomainName,
    credentials: string | undefined,
    status: 401 | 407,
    refuse: Refuse,
  ): Account | undefined {
    const { address } = sourceOf(req);
    if (!this.#limits.rate.take(address)) {
      this.#tooMany(address);
      refuse(503, { 'Retry-After': RETRY_AFTER });
      return undefined;
    }
    const verdict = this.#digest.verify(credentials, req.method, domain, address, (login) =>
      this.#mayTry(req, domain, login) ? secretOf(this.#account(domain, login)) : undefined,
    );
    if (verdict.ok) return this.#account(domain, verdict.username);
    if (verdict.reason === 'wrong') {
      refuse(403, this.#wrong(req, domain, verdict.username));
      return undefined;
    }
    const header = status === 401 ? 'WWW-Authenticate' : 'Proxy-Authenticate';
    refuse(status, { [header]: this.#digest.challenge(domain, address, verdict.reason === 'stale') });
    return undefined;
  }

  /** False while the sender is banned, which registered phones are not. */
  #mayTry(req: SrfRequest, domain: DomainName, login: string): boolean {
    const { address } = sourceOf(req);
    if (this.#limits.ban.retryAfter(address, `${login}@${domain}`) === 0) return true;
    const claimed = this.#claimed(domain, login);
    return claimed !== undefined && this.#callsFromItsContact(claimed, req);
  }

  /** Counts a wrong password. @returns the headers of the refusal */
  #wrong(req: SrfRequest, domain: DomainName, login: string): Record<string, string> {
    const { address } = sourceOf(req);
    const account = `${login}@${domain}`;
    this.#limits.refused?.(this.#limits.ban.retryAfter(address, account) > 0 ? 'ban' : 'password');
    const begins = this.#limits.ban.fail(address, account);
    const seconds = this.#limits.ban.retryAfter(address, account);
    if (begins) this.#log.warn({ address, account, seconds }, 'banned after wrong SIP passwords');
    return seconds === 0 ? {} : { 'Retry-After': String(seconds) };
  }

  #tooMany(address: string): void {
    this.#limits.refused?.('rate');
    const now = performance.now();
    if (now - this.#warned < WARN_MS) return;
    this.#warned = now;
    this.#log.warn({ address }, 'too many SIP requests that need a password from one address: 503');
  }

  /** Learns a host under which a phone reaches this platform. The name of a domain is no such host. */
  #learn(domain: DomainName, host: string | undefined): void {
    if (host !== undefined && this.#domainOf(host) === undefined) this.#ownHosts.learn(domain, host);
  }

  #account(domain: DomainName, login: string): Account | undefined {
    const sipUser = this.#directory.sipUserByLogin(domain, login);
    if (sipUser !== undefined) return { kind: 'sipuser', sipUser };
    const provider = this.#directory.gateway(domain, login);
    return provider === undefined ? undefined : { kind: 'provider', provider };
  }

  #claimed(domain: DomainName, user: string): SipUser | undefined {
    return this.#directory.sipUserByLogin(domain, user) ?? this.#directory.sipUserByNumber(domain, user);
  }

  /** A call or text from a registered contact needs no credentials, unless its sipuser or domain says so. */
  #isTrusted(sipUser: SipUser, req: SrfRequest): boolean {
    const digest = sipUser.digest ?? this.#directory.domain(sipUser.domain)?.digest;
    return digest !== 'always' && this.#callsFromItsContact(sipUser, req);
  }

  #callsFromItsContact(sipUser: SipUser, req: SrfRequest): boolean {
    const from = sourceOf(req);
    return this.#location.contacts(sipUser.id).some((binding) => isFromContact(binding, from));
  }

  #domainOf(host: string | undefined): DomainName | undefined {
    return host === undefined ? undefined : this.#directory.domain(host)?.name;
  }

  /** The only domain beside the master domain, for phones that know only our address; undefined when there are several. */
  #onlyDomain(): DomainName | undefined {
    const [domain, second] = this.#directory.domains().filter(({ isMaster }) => !isMaster);
    return second === undefined ? domain?.name : undefined;
  }
}

function secretOf(account: Account | undefined): DigestSecret | undefined {
  return account?.kind === 'provider' ? account.provider.ha1 : account?.sipUser.ha1;
}

/** The user parts that an account may have in its address of record. */
function namesOf(account: Account): string[] {
  if (account.kind === 'provider') return [account.provider.login];
  return [account.sipUser.login, account.sipUser.phonenumber];
}
