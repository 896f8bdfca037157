/** The Directory in memory: loaded once, then updated by changes of the collections. */
import { asDomainName, type DomainName, domainKey } from '../domain-name/index.ts';
import type { Collections } from './collections/index.ts';
import type { DomainRow } from './collections/domains.ts';
import type { FeatureCodeRow } from './collections/featurecodes.ts';
import type { ProviderRow } from './collections/providers.ts';
import type { RouteRow } from './collections/routes.ts';
import type { SipUserRow } from './collections/sipusers.ts';
import type { Directory, Domain, FeatureCode, Provider, RouteDecision, SipUser } from './directory.ts';
import { providerOfRow } from './provider-of-row.ts';
import { DomainSpace } from './routing/domain-space.ts';
import { reject, route } from './routing/route.ts';

/** A consistent state of the domain-center. */
class Snapshot {
  /** By `domainKey`. */
  readonly spaces = new Map<string, DomainSpace>();
  readonly spacesById = new Map<string, DomainSpace>();
  readonly sipUsers = new Map<string, SipUser>();
  readonly providers = new Map<string, Provider>();
  readonly gateways = new Map<string, Provider>();
  readonly byOwner = new Map<string, Map<string, SipUser>>();

  space(name: string): DomainSpace | undefined {
    return this.spaces.get(name) ?? this.spaces.get(domainKey(name));
  }

  putDomain(row: DomainRow): void {
    const domain: Domain = {
      id: row.id,
      name: asDomainName(row.name),
      isMaster: row.is_master,
      parentId: row.parent_id ?? undefined,
      digest: row.security.digest,
      srtp: row.security.srtp,
      srtpKeys: row.security.srtp_keys,
      codecs: row.opts.codecs,
      maxCalls: row.lic.max_calls,
    };
    const known = this.spacesById.get(row.id);
    if (known !== undefined) {
      known.domain = domain;
      return;
    }
    const space = new DomainSpace(domain);
    this.spaces.set(domainKey(row.name), space);
    this.spacesById.set(row.id, space);
  }

  /** A domain with entities cannot be removed. */
  removeDomain(id: string): void {
    const space = this.spacesById.get(id);
    if (space === undefined) return;
    this.spacesById.delete(id);
    this.spaces.delete(domainKey(space.domain.name));
  }

  putSipUser(row: SipUserRow): void {
    this.removeSipUser(row.id);
    const space = this.spacesById.get(row.domain_id);
    if (space === undefined) return;
    const sipuser: SipUser = {
      id: row.id,
      domain: space.domain.name,
      login: row.login,
      phonenumber: row.phonenumber,
      name: row.name,
      userId: row.user_id ?? undefined,
      ha1: { md5: row.ha1_md5, sha256: row.ha1_sha256 },
      digest: row.security.digest,
      srtp: row.security.srtp,
      srtpKeys: row.security.srtp_keys,
      codecs: row.opts.codecs,
    };
    space.putSipUser(sipuser);
    this.sipUsers.set(row.id, sipuser);
    if (sipuser.userId === undefined) return;
    const owned = this.byOwner.get(sipuser.userId) ?? new Map<string, SipUser>();
    this.byOwner.set(sipuser.userId, owned.set(sipuser.id, sipuser));
  }

  removeSipUser(id: string): void {
    const sipuser = this.sipUsers.get(id);
    if (sipuser === undefined) return;
    this.sipUsers.delete(id);
    this.space(sipuser.domain)?.removeSipUser(sipuser);
    if (sipuser.userId === undefined) return;
    const owned = this.byOwner.get(sipuser.userId);
    owned?.delete(id);
    if (owned?.size === 0) this.byOwner.delete(sipuser.userId);
  }

  putProvider(row: ProviderRow): void {
    this.removeProvider(row.id);
    const space = this.spacesById.get(row.domain_id);
    if (space === undefined) return;
    const provider = providerOfRow(row, space.domain.name);
    space.putProvider(provider);
    this.providers.set(provider.id, provider);
    if (provider.register === 'inbound') this.gateways.set(gatewayKey(provider.domain, provider.login), provider);
  }

  removeProvider(id: string): void {
    const provider = this.providers.get(id);
    if (provider === undefined) return;
    this.providers.delete(id);
    this.gateways.delete(gatewayKey(provider.domain, provider.login));
    this.space(provider.domain)?.removeProvider(provider);
  }

  putFeatureCode(row: FeatureCodeRow): void {
    const space = this.spacesById.get(row.domain_id);
    const { id, prefix, type, opts } = row;
    space?.putFeatureCode({ id, domain: space.domain.name, prefix, type, opts });
  }

  removeFeatureCode(row: FeatureCodeRow): void {
    this.spacesById.get(row.domain_id)?.removeFeatureCode(row.prefix);
  }

  putRoute(row: RouteRow): void {
    const { id, priority, target } = row;
    this.spacesById
      .get(row.domain_id)
      ?.routes.put({ id, priority, from: row.from_pattern, to: row.to_pattern, target });
  }

  removeRoute(row: RouteRow): void {
    this.spacesById.get(row.domain_id)?.routes.remove(row.id);
  }
}

function gatewayKey(domain: DomainName, login: string): string {
  return `${domain} ${login}`;
}

export class LiveDirectory implements Directory {
  /** Collections for writing; a write is visible in look-ups before it returns. */
  readonly collections: Collections;
  #snapshot = new Snapshot();
  /** Changes during a reload, which may have read too early for them. Undefined without a reload. */
  #meanwhile: ((snapshot: Snapshot) => void)[] | undefined;
  #reloading: Promise<void> = Promise.resolve();
  readonly #providerListeners = new Set<() => void>();

  constructor(collections: Collections) {
    this.collections = collections;
    const { domains, sipusers, providers, featurecodes, routes } = collections;
    domains.onChange(({ before, after }) => {
      // Every index contains the domain's name.
      if (before !== undefined && after !== undefined && before.name !== after.name) return this.reload();
      return this.#apply((snapshot) => {
        if (after !== undefined) snapshot.putDomain(after);
        else if (before !== undefined) snapshot.removeDomain(before.id);
      });
    });
    // One reload of all collections serves a gap in the notices.
    domains.onReset(() => this.reload());
    sipusers.onChange(({ before, after }) =>
      this.#apply((snapshot) => {
        if (before !== undefined) snapshot.removeSipUser(before.id);
        if (after !== undefined) snapshot.putSipUser(after);
      }),
    );
    providers.onChange(({ before, after }) => {
      this.#apply((snapshot) => {
        if (before !== undefined) snapshot.removeProvider(before.id);
        if (after !== undefined) snapshot.putProvider(after);
      });
      this.#providersChanged();
    });
    featurecodes.onChange(({ before, after }) =>
      this.#apply((snapshot) => {
        if (before !== undefined) snapshot.removeFeatureCode(before);
        if (after !== undefined) snapshot.putFeatureCode(after);
      }),
    );
    routes.onChange(({ before, after }) =>
      this.#apply((snapshot) => {
        if (before !== undefined) snapshot.removeRoute(before);
        if (after !== undefined) snapshot.putRoute(after);
      }),
    );
  }

  /** Reloads everything; look-ups use the old state meanwhile. */
  async reload(): Promise<void> {
    const reloaded = this.#reloading.then(() => this.#replace());
    this.#reloading = reloaded.catch(() => undefined);
    await reloaded;
    this.#providersChanged();
  }

  #providersChanged(): void {
    for (const listener of this.#providerListeners) listener();
  }

  #apply(change: (snapshot: Snapshot) => void): void {
    change(this.#snapshot);
    this.#meanwhile?.push(change);
  }

  async #replace(): Promise<void> {
    this.#meanwhile = [];
    try {
      const snapshot = await this.#load();
      // Applies changes again that the reload already saw: the last change of an entity decides either way.
      for (const change of this.#meanwhile) change(snapshot);
      this.#snapshot = snapshot;
    } finally {
      this.#meanwhile = undefined;
    }
  }

  async #load(): Promise<Snapshot> {
    const { domains, sipusers, providers, featurecodes, routes } = this.collections;
    const snapshot = new Snapshot();
    for (const row of await domains.list()) snapshot.putDomain(row);
    for (const row of await sipusers.list()) snapshot.putSipUser(row);
    for (const row of await providers.list()) snapshot.putProvider(row);
    for (const row of await featurecodes.list()) snapshot.putFeatureCode(row);
    for (const row of await routes.list()) snapshot.putRoute(row);
    return snapshot;
  }

  domain(name: string): Domain | undefined {
    return this.#snapshot.space(name)?.domain;
  }

  domainById(id: string): Domain | undefined {
    return this.#snapshot.spacesById.get(id)?.domain;
  }

  domains(): readonly Domain[] {
    return [...this.#snapshot.spaces.values()].map((space) => space.domain);
  }

  sipUserByLogin(domain: DomainName, login: string): SipUser | undefined {
    return this.#snapshot.space(domain)?.byLogin(login);
  }

  sipUserByNumber(domain: DomainName, phonenumber: string): SipUser | undefined {
    return this.#snapshot.space(domain)?.byNumber(phonenumber);
  }

  sipUserById(id: string): SipUser | undefined {
    return this.#snapshot.sipUsers.get(id);
  }

  sipUsersOfUser(userId: string): readonly SipUser[] {
    return [...(this.#snapshot.byOwner.get(userId)?.values() ?? [])];
  }

  providers(): readonly Provider[] {
    return [...this.#snapshot.providers.values()];
  }

  gateway(domain: DomainName, login: string): Provider | undefined {
    return this.#snapshot.gateways.get(gatewayKey(domain, login));
  }

  onProviders(listener: () => void): () => void {
    this.#providerListeners.add(listener);
    return () => this.#providerListeners.delete(listener);
  }

  featureCode(domain: DomainName, type: FeatureCode['type']): FeatureCode | undefined {
    return this.#snapshot.space(domain)?.featureCode(type);
  }

  route(domain: DomainName, callerNumber: string | undefined, dialled: string): RouteDecision {
    const space = this.#snapshot.space(domain);
    return space === undefined
      ? reject(404)
      : route(space, callerNumber, dialled, (name) => this.#snapshot.space(name));
  }
}
