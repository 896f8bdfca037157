/** The live dialogs of all nodes. Each node keeps its own, and is asked for them. */
import type { CallStore, DialogScope, DialogSelector, DialogView, MemoryCallStore } from '../../callstore/index.ts';
import { asDomainName } from '../../domain-name/index.ts';
import type { ListType, Pages } from '../../model/index.ts';
import type { Nodes } from '../nodes.ts';
import { ClusterPages } from '../pages.ts';

/** A dialog, and what puts it in order. */
interface Found {
  readonly dialogid: string;
  readonly startts: number;
}

/** Selected dialogs with the node that has them; undefined: this one. */
export interface OwnedDialog extends Found {
  readonly owner: string | undefined;
}

const LIST = 'calls.list';
const READ = 'calls.read';
const LOOKUP = 'calls.lookup';
/** Milliseconds for a list of some 100,000 dialogs. */
const LIST_MS = 10_000;

/**
 * Answers for all nodes. The nodes are asked at the same time, and answer from memory, so that a call costs nothing for being
 * found elsewhere. A dialog of this node is read without asking anybody.
 */
export class ClusterCallStore implements CallStore {
  readonly #local: MemoryCallStore;
  readonly #nodes: Nodes;

  /** Also answers the other nodes from now on. */
  constructor(local: MemoryCallStore, nodes: Nodes) {
    this.#local = local;
    this.#nodes = nodes;
    nodes.serve(LIST, (asked) => local.list(scopeIn(asked)));
    nodes.serve(READ, async (asked) => (await local.read(scopeIn(asked), (asked as Asked).dialogid)) ?? null);
    nodes.serve(LOOKUP, (asked) => local.selected(scopeIn(asked), (asked as Asked).selector).map(found));
  }

  /** @throws OperationError `node_unreachable` while a node does not answer */
  async list(scope: DialogScope): Promise<readonly DialogView[]> {
    const [own, others] = await Promise.all([
      this.#local.list(scope),
      this.#nodes.askAll<readonly DialogView[]>(LIST, { scope }, LIST_MS),
    ]);
    return others.length === 0 ? own : [own, ...others.map(({ answer }) => answer)].flat().toSorted(byBegin);
  }

  /** Pages of the same list. Called once. */
  pages(type: ListType): Pages<DialogScope> {
    const items = (scope: DialogScope) => this.#local.list(scope);
    return new ClusterPages({ name: 'calls', type, items, compare: byBegin }, this.#nodes);
  }

  async read(scope: DialogScope, dialogid: string): Promise<DialogView | undefined> {
    if (this.#local.has(dialogid)) return await this.#local.read(scope, dialogid);
    const answers = await this.#nodes.askAll<DialogView | null>(READ, { scope, dialogid });
    return answers.find(({ answer }) => answer !== null)?.answer ?? undefined;
  }

  async lookup(scope: DialogScope, selector: DialogSelector): Promise<readonly string[]> {
    return (await this.owned(scope, selector)).map(({ dialogid }) => dialogid);
  }

  /** The selected dialogs in the scope with their nodes, oldest first. */
  async owned(scope: DialogScope, selector: DialogSelector): Promise<readonly OwnedDialog[]> {
    const own = this.#local.selected(scope, selector).map((view) => ({ ...found(view), owner: undefined }));
    if (selector.dialogid !== undefined && this.#local.has(selector.dialogid)) return own;
    const others = await this.#nodes.askAll<readonly Found[]>(LOOKUP, { scope, selector });
    const theirs = others.flatMap(({ id, answer }) => answer.map((each) => ({ ...each, owner: id })));
    return theirs.length === 0 ? own : [...own, ...theirs].toSorted(byBegin);
  }
}

/** What the nodes ask each other. */
interface Asked {
  readonly scope: { readonly domain: string; readonly ownUserId?: string };
  readonly dialogid: string;
  readonly selector: DialogSelector;
}

function scopeIn(asked: unknown): DialogScope {
  const { domain, ownUserId } = (asked as Asked).scope;
  return { domain: asDomainName(domain), ...(ownUserId !== undefined && { ownUserId }) };
}

function found({ dialogid, startts }: Found): Found {
  return { dialogid, startts };
}

function byBegin(a: Found, b: Found): number {
  return a.startts - b.startts || (a.dialogid < b.dialogid ? -1 : 1);
}
