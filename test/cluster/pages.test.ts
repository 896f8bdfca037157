import { expect } from 'chai';
import { type DialogView, MemoryCallStore, type DialogStatus } from '../../runtime/callstore/index.ts';
import { ClusterCallStore } from '../../runtime/cluster/calls/cluster-callstore.ts';
import type { Nodes } from '../../runtime/cluster/nodes.ts';
import { localPages, type PageWish, type Pages } from '../../runtime/model/index.ts';
import type { DialogScope } from '../../runtime/callstore/index.ts';
import { LIVE_LISTS } from '../../rest-bridge/index.ts';
import { Random } from '../model/support/random.ts';
import { callOf, DOMAIN } from './support/made-call.ts';

const SEED = 26;
const ROUNDS = 300;
const SCOPE = { domain: DOMAIN };
const SITES = ['berlin', 'paris', 'rome'];

type Handler = (parameters: unknown) => unknown;

/** Nodes that ask each other through JSON, without a network. */
class Stores {
  readonly #handlers: Map<string, Handler>[] = [];
  readonly stores: MemoryCallStore[] = [];
  readonly pages: Pages<DialogScope>[] = [];
  /** Items in the longest answer so far. */
  longest = 0;

  constructor(count: number) {
    for (let at = 0; at < count; at += 1) {
      const handlers = new Map<string, Handler>();
      const store = new MemoryCallStore(() => undefined);
      this.#handlers.push(handlers);
      this.stores.push(store);
      const nodes = {
        serve: (method: string, handler: Handler) => handlers.set(method, handler),
        askAll: (method: string, parameters: unknown) => this.#askAll(handlers, method, parameters),
      } as unknown as Nodes;
      this.pages.push(new ClusterCallStore(store, nodes).pages(LIVE_LISTS.calls));
    }
  }

  async #askAll(own: Map<string, Handler>, method: string, parameters: unknown) {
    const asked = JSON.stringify(parameters);
    return await Promise.all(
      this.#handlers
        .filter((each) => each !== own)
        .map(async (each, at) => {
          const answer = JSON.parse(JSON.stringify(await each.get(method)?.(JSON.parse(asked)))) as unknown;
          if (Array.isArray(answer)) this.longest = Math.max(this.longest, answer.length);
          return { id: String(at), answer };
        }),
    );
  }
}

/** Each with the same in plain JavaScript. */
const FILTERS: readonly [filter: unknown, keeps: (view: DialogView) => boolean][] = [
  [undefined, () => true],
  [{ status: 'forking' }, ({ status }) => status === 'forking'],
  [{ site: 'rome' }, ({ site }) => site === 'rome'],
  [['<', ['property', 'startts'], 40], ({ startts }) => startts < 40],
  [['==', ['property', 'esgdlgid'], 'outside'], ({ esgdlg }) => esgdlg === 'outside'],
];
/** Of two that are equal by it, the older one is first. */
const ORDERS: readonly [order: unknown, compare: (a: DialogView, b: DialogView) => number][] = [
  [undefined, () => 0],
  [['site'], (a, b) => (a.site === b.site ? 0 : a.site < b.site ? -1 : 1)],
  [[{ startts: 'desc' }], (a, b) => b.startts - a.startts],
  [['esgdlgid', { site: 'desc' }], (a, b) => compared(a.esgdlg, b.esgdlg) || compared(b.site, a.site)],
];

function compared(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

describe('pages of the live calls of three nodes', () => {
  it(`are those of a list of all, for random calls, filters, orders and positions (seed ${SEED})`, async () => {
    const random = new Random(SEED);
    const cluster = new Stores(3);
    const all = new Map<string, DialogView>();
    for (let round = 0; round < ROUNDS; round += 1) {
      change(random, cluster, all);
      const [filter, keeps] = random.pick(FILTERS);
      const [order, compare] = random.pick(ORDERS);
      const offset = random.below(20);
      const limit = random.chance(0.2) ? undefined : random.below(15);
      const wish: PageWish = {
        ...(filter !== undefined && { filter }),
        ...(order !== undefined && { order }),
        offset,
        ...(limit !== undefined && { limit }),
        now: 0,
      };
      const expected = [...all.values()]
        .filter(keeps)
        .toSorted((a, b) => compare(a, b) || a.startts - b.startts || compared(a.dialogid, b.dialogid));
      const asked = random.pick(cluster.pages);
      const page = (await asked.page(SCOPE, wish)) as readonly DialogView[];
      expect(ids(page), JSON.stringify(wish)).to.deep.equal(ids(expected.slice(offset, offset + (limit ?? Infinity))));
      expect(await asked.count(SCOPE, wish)).to.equal(expected.length);
      await expectAsOne([...all.values()], wish, page);
    }
  });

  it('cost the other nodes no more than the length of the page', async () => {
    const cluster = new Stores(3);
    for (let index = 0; index < 300; index += 1) cluster.stores[index % 3]?.put(callOf(index).entry);
    const page = await cluster.pages[0]?.page(SCOPE, { order: [{ startts: 'desc' }], offset: 5, limit: 10, now: 0 });
    expect(ids(page as readonly DialogView[])).to.deep.equal(Array.from({ length: 10 }, (_, at) => `d${294 - at}`));
    expect(cluster.longest).to.equal(15);
  });
});

/** A single node with the same calls gives the same page. */
async function expectAsOne(all: readonly DialogView[], wish: PageWish, page: readonly DialogView[]): Promise<void> {
  const one = new MemoryCallStore(() => undefined);
  for (const view of all.toSorted((a, b) => a.startts - b.startts || compared(a.dialogid, b.dialogid)))
    one.put({ view, domains: [DOMAIN], sipUsers: [], providers: [] });
  const single = localPages<DialogScope>(LIVE_LISTS.calls, (scope) => one.list(scope));
  expect(ids((await single.page(SCOPE, wish)) as readonly DialogView[])).to.deep.equal(ids(page));
}

/** A call begins, changes or ends at one of the nodes. */
function change(random: Random, { stores }: Stores, all: Map<string, DialogView>): void {
  const at = random.below(60);
  const store = stores[at % 3];
  const dialogid = `d${at}`;
  if (all.has(dialogid) && random.chance(0.4)) {
    store?.remove(dialogid);
    all.delete(dialogid);
    return;
  }
  const { entry } = callOf(at);
  const status: DialogStatus = random.chance(0.5) ? 'forking' : 'dialog';
  const esgdlg = random.chance(0.3) ? 'outside' : '';
  // Several calls have the same time, and the time is not the order in which they came.
  const startts = all.get(dialogid)?.startts ?? 10 * random.below(8);
  const view = { ...entry.view, status, esgdlg, startts, site: random.pick(SITES) };
  store?.put({ ...entry, view });
  all.set(dialogid, view);
}

function ids(views: readonly DialogView[]): readonly string[] {
  return views.map(({ dialogid }) => dialogid);
}
