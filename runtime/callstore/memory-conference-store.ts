/** Live conferences in memory. */
import type { DomainName } from '../domain-name/index.ts';
import { type CallStore, type DialogScope, SELECTOR_KEYS } from './callstore.ts';
import { CONFERENCE_SELECTOR_KEYS, type ConferenceSelector, type ConferenceStore } from './conference-store.ts';
import type { ConferenceView } from './conference-view.ts';
import { add, normalUri, remove } from './key-index.ts';

/** A live conference as reported by the conference role. */
export interface ConferenceEntry {
  readonly confid: string;
  readonly confroomnum: string;
  readonly confnumber: string;
  /** The number to dial: featurecode and room number. */
  readonly number: string;
  readonly uri: string;
  readonly domain: DomainName;
  /** Remaining places. */
  freePlaces(): number;
  /** The present view; made on demand. */
  view(): ConferenceView;
}

interface Stored {
  readonly entry: ConferenceEntry;
  readonly order: number;
  readonly keys: readonly string[];
}

/**
 * The conferences of this node, with one hash index over all their own keys; dialog selectors are resolved to
 * conferences too.
 */
export class MemoryConferenceStore implements ConferenceStore {
  readonly #calls: CallStore;
  readonly #conferences = new Map<string, Stored>();
  readonly #byDomain = new Map<string, Set<string>>();
  readonly #index = new Map<string, Set<string>>();
  readonly #byDialog = new Map<string, string>();
  #counter = 0;

  /** @param calls finds the dialogs of participants */
  constructor(calls: CallStore) {
    this.#calls = calls;
  }

  /** Live conferences. */
  get count(): number {
    return this.#conferences.size;
  }

  add(entry: ConferenceEntry): void {
    const stored: Stored = { entry, order: this.#counter++, keys: ownKeys(entry) };
    this.#conferences.set(entry.confid, stored);
    add(this.#byDomain, entry.domain, entry.confid);
    for (const key of stored.keys) add(this.#index, key, entry.confid);
  }

  remove(confid: string): void {
    const stored = this.#conferences.get(confid);
    if (stored === undefined) return;
    this.#conferences.delete(confid);
    remove(this.#byDomain, stored.entry.domain, confid);
    for (const key of stored.keys) remove(this.#index, key, confid);
  }

  /** Lets the dialog's selectors find the conference. */
  link(dialogid: string, confid: string): void {
    this.#byDialog.set(dialogid, confid);
  }

  unlink(dialogid: string): void {
    this.#byDialog.delete(dialogid);
  }

  async list(scope: DialogScope): Promise<readonly ConferenceView[]> {
    const own = await this.#own(scope);
    const ids = own ?? this.#byDomain.get(scope.domain) ?? [];
    return this.#visible(scope, own, ids).map(({ entry }) => entry.view());
  }

  async read(scope: DialogScope, confid: string): Promise<ConferenceView | undefined> {
    return this.#visible(scope, await this.#own(scope), [confid])[0]?.entry.view();
  }

  async lookup(scope: DialogScope, selector: ConferenceSelector): Promise<readonly string[]> {
    const ids = await this.#named(scope, selector);
    return this.#visible(scope, await this.#own(scope), ids).map(({ entry }) => entry.confid);
  }

  async isForeign(scope: DialogScope, selector: ConferenceSelector): Promise<boolean> {
    const own = scope.domain;
    for (const id of await this.#named(scope, selector)) {
      const domain = this.#conferences.get(id)?.entry.domain;
      if (domain !== undefined && domain !== own) return true;
    }
    return false;
  }

  freePlaces(confid: string): Promise<number> {
    return Promise.resolve(this.#conferences.get(confid)?.entry.freePlaces() ?? Number.POSITIVE_INFINITY);
  }

  numberOf(confid: string): Promise<string | undefined> {
    return Promise.resolve(this.#conferences.get(confid)?.entry.number);
  }

  /** Conference ids of all domains for the deciding key. */
  async #named(scope: DialogScope, selector: ConferenceSelector): Promise<Iterable<string>> {
    const name = CONFERENCE_SELECTOR_KEYS.find((key) => selector[key] !== undefined);
    const value = name === undefined ? undefined : selector[name];
    if (name === undefined || value === undefined) return [];
    // Another participant's dialog also selects a conference of the user.
    const { domain } = scope;
    if (SELECTOR_KEYS.some((key) => key === name))
      return this.#ofDialogs(await this.#calls.lookup({ domain }, selector));
    if (name === 'confid') return [value];
    // A URI contains its domain.
    if (name === 'confuri') return this.#index.get(uriKey(value)) ?? [];
    return this.#index.get(ownKey(domain, name, value)) ?? [];
  }

  #ofDialogs(dialogids: readonly string[]): Set<string> {
    return new Set(dialogids.flatMap((dialogid) => this.#byDialog.get(dialogid) ?? []));
  }

  /** Ids of the conferences with an account of the scope's user; undefined when the scope is the whole domain. */
  async #own({ domain, ownUserId }: DialogScope): Promise<ReadonlySet<string> | undefined> {
    if (ownUserId === undefined) return undefined;
    return this.#ofDialogs(await this.#calls.lookup({ domain }, { userid: ownUserId }));
  }

  /** Those of the ids that are live and visible in the scope, oldest first. */
  #visible({ domain }: DialogScope, own: ReadonlySet<string> | undefined, ids: Iterable<string>): Stored[] {
    const found: Stored[] = [];
    for (const id of ids) {
      const stored = this.#conferences.get(id);
      if (stored?.entry.domain === domain && own?.has(id) !== false) found.push(stored);
    }
    return found.toSorted((a, b) => a.order - b.order);
  }
}

function ownKey(domain: DomainName, name: string, value: string): string {
  return `${domain} ${name} ${value}`;
}

function uriKey(uri: string): string {
  return `confuri ${normalUri(uri)}`;
}

/** A conference may also be selected by the phone number to dial (specification, "REFERCONF"). */
function ownKeys({ uri, confroomnum, confnumber, number, domain }: ConferenceEntry): string[] {
  return [
    uriKey(uri),
    ownKey(domain, 'confroomnum', confroomnum),
    ownKey(domain, 'confnumber', confnumber),
    ownKey(domain, 'confnumber', number),
  ];
}
