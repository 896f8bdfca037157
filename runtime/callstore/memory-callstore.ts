import { type CallStore, type DialogScope, type DialogSelector, SELECTOR_KEYS } from './callstore.ts';
import type { DialogView } from './dialog-view.ts';
import { KeyIndex, normalUri } from './key-index.ts';

/** A sipuser that takes part in a dialog, for the selectors that name it. */
export interface DialogParty {
  readonly sipUserId: string;
  /** Its own, in any case. */
  readonly domain: string;
  readonly login: string;
  readonly phonenumber: string;
  readonly userId: string | undefined;
}

/** What the switch tells of a live dialog. */
export interface DialogEntry {
  readonly view: DialogView;
  /** Domains of its legs, lower case: each of them sees the dialog. */
  readonly domains: readonly string[];
  readonly sipUsers: readonly DialogParty[];
  /** Ids of the providers that parties of it are reached through. */
  readonly providers: readonly string[];
}

/** The login of the account that a domain has under a number or login, so that `from` finds a dialog under either name. */
export type LoginOf = (domain: string, name: string) => string | undefined;

/** The same object as long as the dialog lives: the indexes hold it. */
interface Stored {
  entry: DialogEntry;
  readonly order: number;
  keys: ReadonlySet<string>;
}

/**
 * The dialogs of this node, with one hash index over every selector: each lookup is constant time in the number of
 * dialogs.
 */
export class MemoryCallStore implements CallStore {
  readonly #dialogs = new Map<string, Stored>();
  readonly #byDomain = new KeyIndex<Stored>();
  readonly #index = new KeyIndex<Stored>();
  readonly #loginOf: LoginOf;
  #counter = 0;

  constructor(loginOf: LoginOf) {
    this.#loginOf = loginOf;
  }

  /** Live dialogs. */
  get count(): number {
    return this.#dialogs.size;
  }

  /** Adds a dialog or replaces what is known of it. */
  put(entry: DialogEntry): void {
    const id = entry.view.dialogid;
    const known = this.#dialogs.get(id);
    const before = known === undefined ? undefined : { ...known };
    const keys = selectorKeys(entry);
    const stored: Stored = known ?? { entry, order: this.#counter++, keys };
    stored.entry = entry;
    stored.keys = keys;
    if (known === undefined) this.#dialogs.set(id, stored);
    // What stays indexed keeps its place, so that the sets are in the order of the dialogs' begin.
    for (const domain of entry.domains) this.#byDomain.add(domain, stored);
    for (const key of keys) this.#index.add(key, stored);
    for (const domain of before?.entry.domains ?? [])
      if (!entry.domains.includes(domain)) this.#byDomain.remove(domain, stored);
    for (const key of before?.keys ?? []) if (!keys.has(key)) this.#index.remove(key, stored);
  }

  remove(dialogid: string): void {
    const stored = this.#dialogs.get(dialogid);
    if (stored === undefined) return;
    this.#dialogs.delete(dialogid);
    for (const domain of stored.entry.domains) this.#byDomain.remove(domain, stored);
    for (const key of stored.keys) this.#index.remove(key, stored);
  }

  /** Dialogs of whatever domain that have a leg with this Call-ID. */
  idsOfCall(callid: string): readonly string[] {
    return Array.from(this.#index.get(`callid ${callid}`), ({ entry }) => entry.view.dialogid);
  }

  /** Dialogs with a party behind this provider. */
  countOfProvider(providerId: string): number {
    return this.#index.count(`provider ${providerId}`);
  }

  list(scope: DialogScope): Promise<readonly DialogView[]> {
    const { domain, ownUserId } = scope;
    const stored =
      ownUserId === undefined ? this.#byDomain.get(domain.toLowerCase()) : this.#index.get(`userid ${ownUserId}`);
    return Promise.resolve(this.#visible(scope, stored).map(({ entry }) => entry.view));
  }

  read(scope: DialogScope, dialogid: string): Promise<DialogView | undefined> {
    const stored = this.#dialogs.get(dialogid);
    return Promise.resolve(stored && this.#visible(scope, [stored])[0]?.entry.view);
  }

  lookup(scope: DialogScope, selector: DialogSelector): Promise<readonly string[]> {
    const [key = '', second] = this.#wanted(scope.domain.toLowerCase(), selector);
    const named = this.#index.get(key);
    const stored = second === undefined ? named : new Set([...named, ...this.#index.get(second)]);
    return Promise.resolve(this.#visible(scope, stored).map(({ entry }) => entry.view.dialogid));
  }

  #wanted(domain: string, selector: DialogSelector): string[] {
    const name = SELECTOR_KEYS.find((key) => selector[key] !== undefined);
    if (name === undefined) return [];
    const value = selector[name] ?? '';
    switch (name) {
      case 'uri':
        return [`uri ${normalUri(value)}`];
      case 'from': {
        if (selector.mode === 'sipuser') return [`login ${domain} ${value}`];
        const login = this.#loginOf(domain, value);
        // A name of the domain's own means nobody who happens to have it in another domain.
        return login === undefined ? [`name ${value}`] : [`name ${value}@${domain}`, `login ${domain} ${login}`];
      }
      case 'sipuserlogin':
        return [`login ${domain} ${value}`];
      case 'sipuserphonenumber':
        return [`number ${domain} ${value}`];
      case 'dialogid':
      case 'inviteid':
      case 'callid':
      case 'sipuserid':
      case 'userid':
        return [`${name} ${value}`];
      default:
        return name satisfies never;
    }
  }

  /** Those that the scope may see, oldest first. */
  #visible({ domain, ownUserId }: DialogScope, candidates: Iterable<Stored>): Stored[] {
    const lower = domain.toLowerCase();
    const found: Stored[] = [];
    let sorted = true;
    for (const stored of candidates) {
      if (!stored.entry.domains.includes(lower)) continue;
      if (ownUserId !== undefined && !stored.entry.sipUsers.some(({ userId }) => userId === ownUserId)) continue;
      sorted &&= (found.at(-1)?.order ?? -1) < stored.order;
      found.push(stored);
    }
    return sorted ? found : found.toSorted((a, b) => a.order - b.order);
  }
}

function selectorKeys({ view, sipUsers, providers }: DialogEntry): ReadonlySet<string> {
  const keys = new Set<string>([`dialogid ${view.dialogid}`, `inviteid ${view.inviteid}`]);
  for (const callid of view.callids) keys.add(`callid ${callid}`);
  for (const leg of view.legs) keys.add(`uri ${normalUri(leg.remoteuri)}`);
  for (const uri of view.uris) {
    const { user, host } = partsOf(uri);
    keys.add(`name ${user}`);
    keys.add(`name ${user}@${host}`);
  }
  for (const provider of providers) keys.add(`provider ${provider}`);
  for (const party of sipUsers) {
    keys.add(`sipuserid ${party.sipUserId}`);
    if (party.userId !== undefined) keys.add(`userid ${party.userId}`);
    const domain = party.domain.toLowerCase();
    keys.add(`login ${domain} ${party.login}`);
    keys.add(`number ${domain} ${party.phonenumber}`);
  }
  return keys;
}

function partsOf(uri: string): { readonly user: string; readonly host: string } {
  const [, user = '', host = ''] = /^<?sips?:([^@]*)@([^>;]*)/.exec(uri) ?? [];
  try {
    return { user: decodeURIComponent(user), host: host.toLowerCase() };
  } catch {
    return { user, host: host.toLowerCase() };
  }
}
