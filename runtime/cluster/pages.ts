/** Pages of lists of which each node has a part. */
import { countOf, type ListType, pageOf, type Pages, type PageWish } from '../model/index.ts';
import type { Nodes } from './nodes.ts';

/** Milliseconds for the whole list of some 100,000 items. */
const TIMEOUT_MS = 10_000;

export interface PartOfList<Scope, Item extends object> {
  /** Names the list among the nodes. */
  readonly name: string;
  readonly type: ListType;
  /** The items of this node. @param scope as the asking node has it, from JSON */
  readonly items: (scope: Scope) => readonly Item[] | Promise<readonly Item[]>;
  /** The order of a list without one; of two items of the cluster, one is first. */
  readonly compare: (a: Item, b: Item) => number;
}

interface Asked<Scope> {
  readonly scope: Scope;
  readonly wish: PageWish;
}

/**
 * Each node filters, sorts and cuts its own items, so that a page costs the others no more than its own length. What they answer is
 * merged, and cut again.
 */
export class ClusterPages<Scope, Item extends object> implements Pages<Scope> {
  readonly #part: PartOfList<Scope, Item>;
  readonly #nodes: Nodes;

  /** Also answers the other nodes from now on. */
  constructor(part: PartOfList<Scope, Item>, nodes: Nodes) {
    this.#part = part;
    this.#nodes = nodes;
    nodes.serve(`${part.name}.page`, async (asked) => {
      const { scope, wish } = asked as Asked<Scope>;
      return pageOf(part.type, sorted(await part.items(scope), part.compare), wish);
    });
    nodes.serve(`${part.name}.count`, async (asked) => {
      const { scope, wish } = asked as Asked<Scope>;
      return countOf(part.type, await part.items(scope), wish);
    });
  }

  /** @throws FilterError; OperationError `node_unreachable` while a node does not answer */
  async page(scope: Scope, wish: PageWish): Promise<readonly object[]> {
    const { name, type, items, compare } = this.#part;
    const { offset, limit, ...rest } = wish;
    // Any of the items before the page may be of any node.
    const head: PageWish = { ...rest, offset: 0, ...(limit !== undefined && { limit: offset + limit }) };
    const own = pageOf(type, sorted(await items(scope), compare), head);
    const others = await this.#nodes.askAll<readonly object[]>(`${name}.page`, { scope, wish: head }, TIMEOUT_MS);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what each node has in its list
    const all = [own, ...others.map(({ answer }) => answer)].flat() as Item[];
    return pageOf(type, sorted(all, compare), wish);
  }

  /** @throws as `page` */
  async count(scope: Scope, wish: PageWish): Promise<number> {
    const { name, type, items } = this.#part;
    const own = countOf(type, await items(scope), wish);
    const others = await this.#nodes.askAll<number>(`${name}.count`, { scope, wish }, TIMEOUT_MS);
    return others.reduce((sum, { answer }) => sum + answer, own);
  }
}

/** The items themselves where they are in order, as those of one node mostly are. */
function sorted<Item>(items: readonly Item[], compare: (a: Item, b: Item) => number): readonly Item[] {
  let before: Item | undefined;
  for (const item of items) {
    if (before !== undefined && compare(before, item) > 0) return items.toSorted(compare);
    before = item;
  }
  return items;
}
