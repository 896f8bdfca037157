import type { Directory, LocationStore, SipUser } from '../domain/directory.ts';
import { DigestAuthenticator } from '../signalling/digest.ts';
import { sourceOf } from '../signalling/incoming-invite.ts';
import { parseSipUri } from '../signalling/sip-uri.ts';
import type { SrfRequest, SrfResponse } from '../signalling/srf-types.ts';
import { isFromContact } from './next-hop.ts';

/** The part of a request's answer that authentication may give. */
type Refuse = (status: number, headers: Record<string, string>) => void;

/**
 * Who a phone is. A REGISTER always proves it by digest. A call is taken without a challenge from exactly the address
 * at which its account is registered at the moment, and challenged otherwise.
 */
export class Authentication {
  readonly #directory: Directory;
  readonly #location: LocationStore;
  readonly #digest = new DigestAuthenticator();

  constructor(directory: Directory, location: LocationStore) {
    this.#directory = directory;
    this.#location = location;
  }

  /** The account that a REGISTER proved to own; undefined when the request has been answered. */
  register(req: SrfRequest, res: SrfResponse): SipUser | undefined {
    const aor = parseSipUri(req.get('To') ?? '');
    const domain = this.#domainOf(aor?.host) ?? this.#domainOf(parseSipUri(req.uri)?.host) ?? this.#onlyDomain();
    const refuse: Refuse = (status, headers) => res.send(status, { headers });
    if (aor === undefined || domain === undefined) {
      refuse(404, {});
      return undefined;
    }
    const sipUser = this.#digestUser(req, domain, req.get('Authorization'), 401, refuse);
    if (sipUser === undefined) return undefined;
    if (aor.user !== sipUser.login && aor.user !== sipUser.phonenumber) {
      refuse(403, {});
      return undefined;
    }
    return sipUser;
  }

  /** The account that places a call; undefined when `refuse` has answered. */
  caller(req: SrfRequest, refuse: Refuse): SipUser | undefined {
    const from = parseSipUri(req.get('From') ?? '');
    const domain = this.#domainOf(from?.host) ?? this.#domainOf(parseSipUri(req.uri)?.host) ?? this.#onlyDomain();
    if (from === undefined || domain === undefined) {
      refuse(403, {});
      return undefined;
    }
    const claimed =
      this.#directory.sipUserByLogin(domain, from.user) ?? this.#directory.sipUserByNumber(domain, from.user);
    if (claimed !== undefined && this.#callsFromItsContact(claimed, req)) return claimed;
    return this.#digestUser(req, domain, req.get('Proxy-Authorization') ?? req.get('Authorization'), 407, refuse);
  }

  #digestUser(
    req: SrfRequest,
    domain: string,
    credentials: string | undefined,
    status: 401 | 407,
    refuse: Refuse,
  ): SipUser | undefined {
    const verdict = this.#digest.verify(
      credentials,
      req.method,
      domain,
      (login) => this.#directory.sipUserByLogin(domain, login)?.ha1,
    );
    if (verdict.ok) return this.#directory.sipUserByLogin(domain, verdict.username);
    if (verdict.reason === 'wrong') {
      refuse(403, {});
      return undefined;
    }
    const header = status === 401 ? 'WWW-Authenticate' : 'Proxy-Authenticate';
    refuse(status, { [header]: this.#digest.challenge(domain, verdict.reason === 'stale') });
    return undefined;
  }

  #callsFromItsContact(sipUser: SipUser, req: SrfRequest): boolean {
    const from = sourceOf(req);
    return this.#location.contacts(sipUser.id).some((binding) => isFromContact(binding, from));
  }

  #domainOf(host: string | undefined): string | undefined {
    return host === undefined ? undefined : this.#directory.domain(host)?.name;
  }

  /** The domain meant by a phone that knows only our address: the one there is beside the master domain. */
  #onlyDomain(): string | undefined {
    const [domain, second] = this.#directory.domains().filter(({ isMaster }) => !isMaster);
    return second === undefined ? domain?.name : undefined;
  }
}
