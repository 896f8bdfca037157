/** The live conferences of all nodes. Each node keeps its own, and is asked for them. */
import {
  type CallStore,
  type ConferenceSelector,
  type ConferenceStore,
  type ConferenceView,
  type DialogScope,
  type MemoryConferenceStore,
  type ParticipantView,
  SELECTOR_KEYS,
} from '../../callstore/index.ts';
import { asDomainName } from '../../domain-name/index.ts';
import type { ListType, Pages } from '../../model/index.ts';
import type { Nodes } from '../nodes.ts';
import { ClusterPages } from '../pages.ts';

const LIST = 'conferences.list';
const READ = 'conferences.read';
const LOOKUP = 'conferences.lookup';
const FOREIGN = 'conferences.foreign';
const PLACE = 'conferences.place';
const PARTICIPANTS = 'conferences.participants';

interface Found {
  readonly confid: string;
  readonly startts: number;
}

/** What is known of a room beside its view. */
interface Place {
  /** Null: without a limit. */
  readonly free: number | null;
  readonly number: string;
}

/** What the nodes ask each other. */
interface Asked {
  readonly scope: { readonly domain: string; readonly ownUserId?: string };
  readonly confid: string;
  readonly selector: ConferenceSelector;
  /** The dialogs that the selector, or the scope's user, means. */
  readonly dialogids?: readonly string[];
  readonly own?: readonly string[];
}

/** A scope with the dialogs of its user. */
interface OwnScope extends DialogScope {
  readonly own?: readonly string[];
}

/** Reads the participants of a room of this node. */
type Participants = (confid: string) => readonly ParticipantView[] | undefined;

/** Answers for all nodes, from the memory of each. A conference of this node is read without asking anybody. */
export class ClusterConferences implements ConferenceStore {
  readonly #local: MemoryConferenceStore;
  readonly #calls: CallStore;
  readonly #nodes: Nodes;
  readonly #participants: Participants;

  /** Also answers the other nodes from now on. @param calls the dialogs of all nodes */
  constructor(local: MemoryConferenceStore, calls: CallStore, nodes: Nodes, participants: Participants) {
    this.#local = local;
    this.#calls = calls;
    this.#nodes = nodes;
    this.#participants = participants;
    nodes.serve(LIST, (asked) => local.among(scopeIn(asked), (asked as Asked).own));
    nodes.serve(READ, (asked) => local.one(scopeIn(asked), (asked as Asked).confid, (asked as Asked).own) ?? null);
    nodes.serve(LOOKUP, (asked) => this.#found(asked as Asked));
    nodes.serve(FOREIGN, (asked) =>
      local.hasForeign(scopeIn(asked), (asked as Asked).selector, (asked as Asked).dialogids),
    );
    nodes.serve(PLACE, (asked) => this.#place((asked as Asked).confid));
    nodes.serve(PARTICIPANTS, (asked) => participants((asked as Asked).confid) ?? null);
  }

  async list(scope: DialogScope): Promise<readonly ConferenceView[]> {
    const own = await this.#own(scope);
    const answers = await this.#nodes.askAll<readonly ConferenceView[]>(LIST, { scope, own });
    return [this.#local.among(scope, own), ...answers.map(({ answer }) => answer)].flat().toSorted(byBegin);
  }

  /** Pages of the same list. Called once. */
  pages(type: ListType): Pages<DialogScope> {
    const items = ({ own, ...scope }: OwnScope) => this.#local.among(scope, own);
    const pages = new ClusterPages<OwnScope, ConferenceView>(
      { name: 'conferences', type, items, compare: byBegin },
      this.#nodes,
    );
    const whole = async (scope: DialogScope): Promise<OwnScope> => {
      const own = await this.#own(scope);
      return { ...scope, ...(own && { own }) };
    };
    return {
      page: async (scope, wish) => await pages.page(await whole(scope), wish),
      count: async (scope, wish) => await pages.count(await whole(scope), wish),
    };
  }

  async read(scope: DialogScope, confid: string): Promise<ConferenceView | undefined> {
    const own = await this.#own(scope);
    const here = this.#local.one(scope, confid, own);
    if (here !== undefined || this.#local.has(confid)) return here;
    return await this.#first<ConferenceView>(READ, { scope, confid, own });
  }

  async lookup(scope: DialogScope, selector: ConferenceSelector): Promise<readonly string[]> {
    const asked = { scope, selector, ...(await this.#dialogs(scope, selector)) };
    const answers = await this.#nodes.askAll<readonly Found[]>(LOOKUP, asked);
    const all = [this.#found({ ...asked, confid: '' }), ...answers.map(({ answer }) => answer)].flat();
    return all.toSorted(byBegin).map(({ confid }) => confid);
  }

  async isForeign(scope: DialogScope, selector: ConferenceSelector): Promise<boolean> {
    const { dialogids } = await this.#dialogs(scope, selector);
    if (this.#local.hasForeign(scope, selector, dialogids)) return true;
    return (await this.#nodes.askAll<boolean>(FOREIGN, { scope, selector, dialogids })).some(({ answer }) => answer);
  }

  async freePlaces(confid: string): Promise<number> {
    const place = this.#place(confid) ?? (await this.#first<Place>(PLACE, { confid }));
    return place?.free ?? Number.POSITIVE_INFINITY;
  }

  async numberOf(confid: string): Promise<string | undefined> {
    return (this.#place(confid) ?? (await this.#first<Place>(PLACE, { confid })))?.number;
  }

  /** The participants of a room of any node; undefined when there is no such conference. */
  async participants(confid: string): Promise<readonly ParticipantView[] | undefined> {
    return this.#participants(confid) ?? (await this.#first<readonly ParticipantView[]>(PARTICIPANTS, { confid }));
  }

  /** The node of a conference that the scope sees; undefined: this node answers for it. */
  async owner(scope: DialogScope, confid: string): Promise<string | undefined> {
    if (this.#local.has(confid)) return undefined;
    const own = await this.#own(scope);
    const answers = await this.#nodes.askAll<ConferenceView | null>(READ, { scope, confid, own });
    return answers.find(({ answer }) => answer !== null)?.id;
  }

  async #first<Answer>(method: string, asked: object): Promise<Answer | undefined> {
    const answers = await this.#nodes.askAll<Answer | null>(method, asked);
    return answers.find(({ answer }) => answer !== null)?.answer ?? undefined;
  }

  /** Of the scope's user; undefined when the scope is the whole domain. */
  async #own({ domain, ownUserId }: DialogScope): Promise<readonly string[] | undefined> {
    return ownUserId === undefined ? undefined : await this.#calls.lookup({ domain }, { userid: ownUserId });
  }

  async #dialogs(scope: DialogScope, selector: ConferenceSelector): Promise<Pick<Asked, 'dialogids' | 'own'>> {
    const own = await this.#own(scope);
    const isOfDialog = SELECTOR_KEYS.some((key) => selector[key] !== undefined);
    const dialogids = isOfDialog ? await this.#calls.lookup({ domain: scope.domain }, selector) : undefined;
    return { ...(own && { own }), ...(dialogids && { dialogids }) };
  }

  #found(asked: Asked): readonly Found[] {
    const found = this.#local.selected(scopeIn(asked), asked.selector, asked);
    return found.map(({ confid, startts }) => ({ confid, startts }));
  }

  #place(confid: string): Place | null {
    const place = this.#local.place(confid);
    return place === undefined ? null : { ...place, free: Number.isFinite(place.free) ? place.free : null };
  }
}

function scopeIn(asked: unknown): DialogScope {
  const { domain, ownUserId } = (asked as Asked).scope;
  return { domain: asDomainName(domain), ...(ownUserId !== undefined && { ownUserId }) };
}

function byBegin(a: Found, b: Found): number {
  return a.startts - b.startts || (a.confid < b.confid ? -1 : 1);
}
