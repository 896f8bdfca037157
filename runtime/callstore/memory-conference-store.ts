/** Live conferences in memory. */
import type { DomainName } from '../domain-name/index.ts';
import { type CallStore, type DialogScope, SELECTOR_KEYS } from './callstore.ts';
import {
  CONFERENCE_SELECTOR_KEYS,
  type ConferenceSelector,
  type ConferenceSelectorKey,
  type ConferenceStore,
} from './conference-store.ts';
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

/** Ids of dialogs that are known already. */
export interface KnownDialogs {
  readonly dialogids?: readonly string[] | undefined;
  readonly own?: readonly string[] | undefined;
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

  has(confid: string): boolean {
    return this.#conferences.has(confid);
  }

  async list(scope: DialogScope): Promise<readonly ConferenceView[]> {
    return this.among(scope, await this.#own(scope));
  }

  async read(scope: DialogScope, confid: string): Promise<ConferenceView | undefined> {
    return this.one(scope, confid, await this.#own(scope));
  }

  async lookup(scope: DialogScope, selector: ConferenceSelector): Promise<readonly string[]> {
    const dialogids = await this.#dialogs(scope, selector);
    const own = await this.#own(scope);
    return this.#selected(scope, selector, { dialogids, own }).map(({ entry }) => entry.confid);
  }

  async isForeign(scope: DialogScope, selector: ConferenceSelector): Promise<boolean> {
    return this.hasForeign(scope, selector, await this.#dialogs(scope, selector));
  }

  freePlaces(confid: string): Promise<number> {
    return Promise.resolve(this.place(confid)?.free ?? Number.POSITIVE_INFINITY);
  }

  numberOf(confid: string): Promise<string | undefined> {
    return Promise.resolve(this.place(confid)?.number);
  }

  // The same with the dialogs that a selector or a user means, which may be at several nodes.

  /** @param own dialogs of the scope's user; undefined when the scope is the whole domain */
  among(scope: DialogScope, own: readonly string[] | undefined): readonly ConferenceView[] {
    const visible = own && this.#ofDialogs(own);
    const ids = visible ?? this.#byDomain.get(scope.domain) ?? [];
    return this.#visible(scope, visible, ids).map(({ entry }) => entry.view());
  }

  one(scope: DialogScope, confid: string, own: readonly string[] | undefined): ConferenceView | undefined {
    return this.#visible(scope, own && this.#ofDialogs(own), [confid])[0]?.entry.view();
  }

  /** @param known.dialogids those that a selector of dialogs means */
  selected(scope: DialogScope, selector: ConferenceSelector, known: KnownDialogs): readonly ConferenceView[] {
    return this.#selected(scope, selector, known).map(({ entry }) => entry.view());
  }

  hasForeign({ domain }: DialogScope, selector: ConferenceSelector, dialogids: KnownDialogs['dialogids']): boolean {
    for (const id of this.#named({ domain }, selector, dialogids)) {
      const its = this.#conferences.get(id)?.entry.domain;
      if (its !== undefined && its !== domain) return true;
    }
    return false;
  }

  /** Remaining places and the number to dial of a live conference. */
  place(confid: string): { readonly free: number; readonly number: string } | undefined {
    const entry = this.#conferences.get(confid)?.entry;
    return entry && { free: entry.freePlaces(), number: entry.number };
  }

  #selected(scope: DialogScope, selector: ConferenceSelector, { dialogids, own }: KnownDialogs): Stored[] {
    return this.#visible(scope, own && this.#ofDialogs(own), this.#named(scope, selector, dialogids));
  }

  /** Conference ids of all domains for the deciding key. */
  #named(
    { domain }: DialogScope,
    selector: ConferenceSelector,
    dialogids: KnownDialogs['dialogids'],
  ): Iterable<string> {
    const name = decidingKey(selector);
    const value = name === undefined ? undefined : selector[name];
    if (name === undefined || value === undefined) return [];
    // Another participant's dialog also selects a conference of the user.
    if (isOfDialogs(name)) return this.#ofDialogs(dialogids ?? []);
    if (name === 'confid') return [value];
    // A URI contains its domain.
    if (name === 'confuri') return this.#index.get(uriKey(value)) ?? [];
    return this.#index.get(ownKey(domain, name, value)) ?? [];
  }

  #ofDialogs(dialogids: readonly string[]): Set<string> {
    return new Set(dialogids.flatMap((dialogid) => this.#byDialog.get(dialogid) ?? []));
  }

  /** The dialogs that the deciding key means, if it is one of dialogs. */
  async #dialogs({ domain }: DialogScope, selector: ConferenceSelector): Promise<readonly string[] | undefined> {
    const name = decidingKey(selector);
    return name !== undefined && isOfDialogs(name) ? await this.#calls.lookup({ domain }, selector) : undefined;
  }

  /** Dialogs of the scope's user; undefined when the scope is the whole domain. */
  async #own({ domain, ownUserId }: DialogScope): Promise<readonly string[] | undefined> {
    return ownUserId === undefined ? undefined : await this.#calls.lookup({ domain }, { userid: ownUserId });
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

function decidingKey(selector: ConferenceSelector): ConferenceSelectorKey | undefined {
  return CONFERENCE_SELECTOR_KEYS.find((key) => selector[key] !== undefined);
}

function isOfDialogs(name: ConferenceSelectorKey): boolean {
  return SELECTOR_KEYS.some((key) => key === name);
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
