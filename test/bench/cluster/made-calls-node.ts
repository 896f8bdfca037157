/** A node with made calls and nothing else, in a process of its own: `ADDRESS NAME FIRST COUNT`. It does what its parent asks. */
import process from 'node:process';
import { LIVE_LISTS } from '../../../rest-bridge/index.ts';
import { MemoryCallStore } from '../../../runtime/callstore/index.ts';
import { Cluster } from '../../../runtime/cluster/index.ts';
import { callOf, DOMAIN } from '../../cluster/support/made-call.ts';

const [address = '', name = '', first = '0', count = '0'] = process.argv.slice(2);
const ignore = (): void => undefined;
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const store = new MemoryCallStore(() => undefined);
const servers = [{ address, secure: false, user: undefined, password: undefined, token: undefined }];
const tls = { ca: undefined, cert: undefined, key: undefined };
const cluster = await Cluster.open({ servers, credentialsFile: undefined, tls, name }, log);
const everywhere = cluster.callstore(store);
const pages = everywhere.pages(LIVE_LISTS.calls);
const scope = { domain: DOMAIN };
const calls = Array.from({ length: Number(count) }, (_, at) => callOf(Number(first) + at));
for (const { entry } of calls) store.put(entry);
await cluster.join(() => ({
  site: 'main',
  roles: [],
  version: '0',
  http: '',
  started: 0,
  state: 'accepting',
  load: { calls: store.count, runs: 0, subscriptions: 0 },
}));

async function page(order: unknown): Promise<number> {
  const began = performance.now();
  const found = await pages.page(scope, {
    ...(order !== undefined && { order }),
    offset: 0,
    limit: 100,
    now: Date.now(),
  });
  if (found.length !== 100) throw new Error(`a page of ${found.length} calls`);
  return performance.now() - began;
}

/** What the parent may ask, by name. Each answers a number. */
const WORK: Readonly<Record<string, () => number | Promise<number>>> = {
  nodes: () => cluster.state.nodes,
  /** Milliseconds of a LOOKUP of any call. */
  lookup: async () => {
    const began = performance.now();
    await everywhere.lookup(scope, { callid: `call-${Math.floor(Math.random() * 3 * Number(count))}-b` });
    return performance.now() - began;
  },
  list: async () => {
    const began = performance.now();
    await everywhere.list(scope);
    return performance.now() - began;
  },
  /** Milliseconds of the first 100 calls, and of the latest 100. */
  page: () => page(undefined),
  'ordered page': () => page([{ startts: 'desc' }]),
  /** Calls that are found of one at each node. */
  found: async () => {
    let found = 0;
    for (let node = 0; node < 3; node += 1)
      found += (await everywhere.lookup(scope, { callid: `call-${node * Number(count)}-b` })).length;
    return found;
  },
  /** Microseconds of processor time a call for the index: begun, ringing, answered, over. */
  index: async () => {
    const index = cluster.callIndex;
    const before = process.cpuUsage();
    for (const step of [1, 2, 3]) {
      for (const call of calls) index.changed(call.facts.dialogid, () => ({ ...call, step }));
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    for (const { facts } of calls) index.over(facts.dialogid);
    await new Promise((resolve) => setTimeout(resolve, 200));
    const { user, system } = process.cpuUsage(before);
    return (user + system) / calls.length;
  },
};

process.on('message', (asked: string) => {
  void Promise.resolve(WORK[asked]?.()).then((answer) => process.send?.(answer));
});
process.once('disconnect', () => process.exit(0));
process.send?.('ready');
