/** Live dialogs in memory. */
import type { DomainName } from '../domain-name/index.ts';
import { CallIds } from './call-ids.ts';
import { type CallStore, type DialogScope, type DialogSelector, SELECTOR_KEYS } from './callstore.ts';
import type { DialogView } from './dialog-view.ts';
import { atHost, KeyIndex, normalUri } from './key-index.ts';

/** A sipuser taking part in a dialog, for selectors by sipuser. */
export interface DialogParty {
  readonly sipUserId: string;
  readonly domain: DomainName;
  readonly login: string;
  readonly phonenumber: string;
  readonly userId: string | undefined;
}

/** A live dialog as reported by the switch. */
export interface DialogEntry {
  readonly view: DialogView;
  /** Domains of its legs; each of them sees the dialog. */
  readonly domains: readonly DomainName[];
  readonly sipUsers: readonly DialogParty[];
  /** Ids of the providers of its parties. */
  readonly providers: readonly string[];
  /** Id of the operation that made it. */
  readonly operation?: string | undefined;
}

/** The login for a number or login in a domain, so that `from` finds a dialog under either. */
export type LoginOf = (domain: DomainName, name: string) => string | undefined;

/**
 * Separate indexes per selector: a table of some 100,000 Call-IDs needs fewer memory accesses per look-up than one of
 * all keys, and strings of the dialog serve as keys without copies.
 */
const INDEXES = [
  'inviteid',
  'callid',
  'uri',
  'name',
  'sipuserid',
  'userid',
  'login',
  'number',
  'provider',
  'domain',
] as const;
type IndexName = (typeof INDEXES)[number];
type Keys = Readonly<Record<IndexName, readonly string[]>>;

/** The same object for the dialog's life: the indexes hold it. */
interface Stored {
  entry: DialogEntry;
  readonly order: number;
  keys: Keys;
}

/** What has limits of calls: the keys are ids of providers, and names of domains. */
const LIMITED = ['provider', 'domain'] as const satisfies readonly IndexName[];
type Limited = (typeof LIMITED)[number];

/** The dialogs of other nodes by a key. */
export interface CountsElsewhere {
  elsewhere(key: string): number;
  /** Dialogs of this node with these keys came or went, or changed. */
  changed(keys: readonly string[]): void;
}

/** The dialogs of this node, with a hash index per selector: look-ups take constant time in the number of dialogs. */
export class MemoryCallStore implements CallStore {
  readonly #dialogs = new Map<string, Stored>();
  readonly #index: Readonly<Record<IndexName, KeyIndex<Stored>>>;
  readonly #loginOf: LoginOf;
  readonly #callIds: CallIds;
  /** What `list` found for each domain since the latest change. */
  readonly #listed = new Map<DomainName, readonly DialogView[]>();
  #counter = 0;
  #elsewhere: Readonly<Record<Limited, CountsElsewhere>> | undefined;

  /** @param callIds learns the ids of all calls */
  constructor(loginOf: LoginOf, callIds = new CallIds()) {
    this.#loginOf = loginOf;
    this.#callIds = callIds;
    const index = () => new KeyIndex<Stored>();
    this.#index = {
      inviteid: index(),
      callid: index(),
      uri: index(),
      name: index(),
      sipuserid: index(),
      userid: index(),
      login: index(),
      number: index(),
      provider: index(),
      domain: index(),
    };
  }

  /** Live dialogs. */
  get count(): number {
    return this.#dialogs.size;
  }

  /** Adds or replaces a dialog. */
  put(entry: DialogEntry): void {
    const { dialogid: id, inviteid, callids, esgcallid } = entry.view;
    const { operation = '' } = entry;
    this.#callIds.live(
      inviteid,
      [id, ...callids, esgcallid, operation].filter((each) => each !== ''),
    );
    this.#listed.clear();
    const known = this.#dialogs.get(id);
    const before = known?.keys;
    const keys = keysOf(entry);
    const stored: Stored = known ?? { entry, order: this.#counter++, keys };
    stored.entry = entry;
    stored.keys = keys;
    if (known === undefined) this.#dialogs.set(id, stored);
    // Unchanged keys keep their position, so that sets stay in the order of the dialogs' begin.
    for (const name of INDEXES) {
      const index = this.#index[name];
      for (const key of keys[name]) index.add(key, stored);
      for (const key of before?.[name] ?? []) if (!keys[name].includes(key)) index.remove(key, stored);
    }
    this.#tellChanged(keys);
    if (before !== undefined) this.#tellChanged(before);
  }

  remove(dialogid: string): void {
    const stored = this.#dialogs.get(dialogid);
    if (stored === undefined) return;
    this.#listed.clear();
    this.#dialogs.delete(dialogid);
    this.#callIds.over(stored.entry.view.inviteid);
    for (const name of INDEXES) {
      for (const key of stored.keys[name]) this.#index[name].remove(key, stored);
    }
    this.#tellChanged(stored.keys);
  }

  /** Dialogs of all domains with a leg of this Call-ID. */
  idsOfCall(callid: string): readonly string[] {
    return Array.from(this.#index.callid.get(callid), ({ entry }) => entry.view.dialogid);
  }

  /** Dialogs with a party behind this provider, of all nodes. */
  countOfProvider(providerId: string): number {
    return this.#count('provider', providerId);
  }

  /** Dialogs with a party of this domain, of all nodes. */
  countOfDomain(domain: DomainName): number {
    return this.#count('domain', domain);
  }

  /** Dialogs of this node by the providers, or the domains, of their parties. */
  countsOf(limited: Limited): ReadonlyMap<string, number> {
    return this.#index[limited].counts();
  }

  /** Adds the dialogs of other nodes to those of this one, for limits. */
  countElsewhere(elsewhere: Readonly<Record<Limited, CountsElsewhere>>): void {
    this.#elsewhere = elsewhere;
  }

  #count(limited: Limited, key: string): number {
    return this.#index[limited].count(key) + (this.#elsewhere?.[limited].elsewhere(key) ?? 0);
  }

  #tellChanged(keys: Pick<Stored['keys'], Limited>): void {
    if (this.#elsewhere === undefined) return;
    for (const limited of LIMITED) this.#elsewhere[limited].changed(keys[limited]);
  }

  list(scope: DialogScope): Promise<readonly DialogView[]> {
    const { domain, ownUserId } = scope;
    if (ownUserId !== undefined) {
      const own = this.#visible(scope, this.#index.userid.get(ownUserId));
      return Promise.resolve(own.map(({ entry }) => entry.view));
    }
    let views = this.#listed.get(domain);
    if (views === undefined) {
      views = viewsInOrder(this.#index.domain.get(domain));
      this.#listed.set(domain, views);
    }
    return Promise.resolve(views);
  }

  read(scope: DialogScope, dialogid: string): Promise<DialogView | undefined> {
    const stored = this.#dialogs.get(dialogid);
    return Promise.resolve(stored && this.#visible(scope, [stored])[0]?.entry.view);
  }

  lookup(scope: DialogScope, selector: DialogSelector): Promise<readonly string[]> {
    return Promise.resolve(this.selected(scope, selector).map(({ dialogid }) => dialogid));
  }

  /** The selected dialogs in the scope, oldest first. Constant time. */
  selected(scope: DialogScope, selector: DialogSelector): readonly DialogView[] {
    return this.#visible(scope, this.#found(scope.domain, selector)).map(({ entry }) => entry.view);
  }

  /** True for a live dialog of any domain. */
  has(dialogid: string): boolean {
    return this.#dialogs.has(dialogid);
  }

  /** True for a live call of any domain. @param inviteid of the call */
  hasCall(inviteid: string): boolean {
    return this.#index.inviteid.count(inviteid) > 0;
  }

  #found(domain: DomainName, selector: DialogSelector): Iterable<Stored> {
    const name = SELECTOR_KEYS.find((key) => selector[key] !== undefined);
    if (name === undefined) return [];
    const value = selector[name] ?? '';
    const index = this.#index;
    switch (name) {
      case 'dialogid': {
        const stored = this.#dialogs.get(value);
        return stored === undefined ? [] : [stored];
      }
      case 'uri':
        return index.uri.get(normalUri(value));
      case 'from': {
        if (selector.mode === 'sipuser') return index.login.get(`${domain} ${value}`);
        const login = this.#loginOf(domain, value);
        // A domain's own name never selects an account of the same name in another domain.
        if (login === undefined) return index.name.get(value);
        return new Set([...index.name.get(atHost(value, domain)), ...index.login.get(`${domain} ${login}`)]);
      }
      case 'sipuserlogin':
        return index.login.get(`${domain} ${value}`);
      case 'sipuserphonenumber':
        return index.number.get(`${domain} ${value}`);
      case 'inviteid':
      case 'callid':
      case 'sipuserid':
      case 'userid':
        return index[name].get(value);
      default:
        return name satisfies never;
    }
  }

  /** The dialogs visible in the scope, oldest first. */
  #visible({ domain, ownUserId }: DialogScope, candidates: Iterable<Stored>): readonly Stored[] {
    const found: Stored[] = [];
    for (const stored of candidates) {
      if (!stored.entry.domains.includes(domain)) continue;
      if (ownUserId !== undefined && !stored.entry.sipUsers.some(({ userId }) => userId === ownUserId)) continue;
      found.push(stored);
    }
    return inOrder(found);
  }
}

/** The views, oldest first, in one pass where they are sorted already. */
function viewsInOrder(found: Iterable<Stored>): readonly DialogView[] {
  const views: DialogView[] = [];
  let last = -1;
  for (const { entry, order } of found) {
    if (order < last) return inOrder([...found]).map((stored) => stored.entry.view);
    last = order;
    views.push(entry.view);
  }
  return views;
}

/** Oldest first. Mostly sorted already, except for dialogs that a later put added to an index. */
function inOrder(found: readonly Stored[]): readonly Stored[] {
  for (let at = 1; at < found.length; at += 1) {
    if ((found[at - 1]?.order ?? 0) > (found[at]?.order ?? 0)) return found.toSorted((a, b) => a.order - b.order);
  }
  return found;
}

function keysOf({ view, sipUsers, providers, domains }: DialogEntry): Keys {
  const inDomain = (name: 'login' | 'phonenumber') => sipUsers.map((party) => `${party.domain} ${party[name]}`);
  return {
    inviteid: [view.inviteid],
    callid: view.callids,
    uri: view.legs.map(({ remoteuri }) => normalUri(remoteuri)),
    name: view.uris.flatMap((uri) => {
      const { user, host } = partsOf(uri);
      return [user, atHost(user, host)];
    }),
    sipuserid: sipUsers.map(({ sipUserId }) => sipUserId),
    userid: sipUsers.flatMap(({ userId }) => userId ?? []),
    login: inDomain('login'),
    number: inDomain('phonenumber'),
    provider: providers,
    domain: domains,
  };
}

function partsOf(uri: string): { readonly user: string; readonly host: string } {
  const [, user = '', host = ''] = /^<?sips?:([^@]*)@([^>;]*)/.exec(uri) ?? [];
  try {
    return { user: decodeURIComponent(user), host };
  } catch {
    return { user, host };
  }
}
