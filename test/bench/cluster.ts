import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { LoadRun, reportOf } from '../../runtime/load/index.ts';
import { NatsServer } from '../cluster/support/nats-server.ts';
import { TestCluster } from '../cluster/support/test-cluster.ts';
import { findProgram } from '../phones/peers.ts';
import { postgresServer, stopPostgresServer } from '../storage/support/postgres-server.ts';
import { TestNode } from '../support/node.ts';
import { mediaServerProgram, sipServerProgram } from '../support/server-programs.ts';
import { percentile } from './support/percentile.ts';
import { cpuMs, processListeningOn } from './support/process-usage.ts';
import { type Benchmark, type Figure, Unavailable } from './support/report.ts';

const PROGRAM = fileURLToPath(new URL('cluster/made-calls-node.ts', import.meta.url));
const MADE_CALLS = 99_999;
const LOOKS = 200;
/** Calls a second, and their number. What a node uses at rest differs by some 20 ms a second, little for each of so many calls. */
const RATE = 20;
const CALLS = 800;
/** Calls before those that are measured: after 200 a call through a cluster still costs twice as much. */
const WARM = 800;
const IDLE_MS = 5000;
/** Each size in turns, the lowest figures of them: other load only slows down. */
const ROUNDS = 2;
/** Nodes of the clusters. */
const SIZES = [1, 2, 3];

type Progress = (line: string) => void;

/** Costs in milliseconds of processor time. */
interface Cost {
  readonly call: number;
  readonly nats: number;
  /** Milliseconds from INVITE to ringing, p50. */
  readonly ringing: number;
}

export const cluster: Benchmark = {
  title: 'cluster: calls through nodes that share servers; made calls over three nodes; a node that is killed',
  async run(progress) {
    try {
      return await figuresOf(progress);
    } finally {
      await stopPostgresServer();
    }
  },
};

async function figuresOf(progress: Progress): Promise<readonly Figure[]> {
  if (findProgram('nats-server') === undefined) throw new Unavailable('nats-server is not installed');
  if ((await postgresServer()) === undefined) throw new Unavailable('PostgreSQL is not installed');
  const made = await madeCalls(progress);
  for (const { what, figure } of made) progress(`${what}: ${figure}`);
  const costs = new Map<number, Cost>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const count of [0, ...SIZES]) {
      const cost = count === 0 ? await costAlone(progress) : await costOf(count, progress);
      progress(`${cost.call} ms a call, NATS ${cost.nats} ms, ringing after ${cost.ringing} ms`);
      costs.set(count, lowest(cost, costs.get(count) ?? cost));
    }
  }
  const alone = costs.get(0) as Cost;
  const figures: Figure[] = [
    { what: 'a node without a cluster: ms of processor time a call', figure: alone.call },
    { what: 'ms from INVITE to ringing, p50', figure: alone.ringing },
  ];
  for (const count of SIZES) {
    const { call, nats, ringing } = costs.get(count) as Cost;
    const what = `${count} ${count === 1 ? 'node' : 'nodes'}`;
    figures.push(
      { what: `${what}: ms of processor time a call, all nodes`, figure: call, floor: alone.call },
      { what: `${what}: of NATS`, figure: nats },
      { what: `${what}: ms from INVITE to ringing, p50`, figure: ringing, floor: alone.ringing },
    );
  }
  return [...figures, ...made];
}

function lowest(one: Cost, other: Cost): Cost {
  return {
    call: Math.min(one.call, other.call),
    nats: Math.min(one.nats, other.nats),
    ringing: Math.min(one.ringing, other.ringing),
  };
}

/** One node with the servers, database and load of the others. */
async function costAlone(progress: Progress): Promise<Cost> {
  const databaseUrl = await (await postgresServer())?.createDatabase();
  const [sip, media] = [await sipServerProgram(), await mediaServerProgram()];
  await Promise.all([sip.start(), media.start()]);
  const node = await TestNode.start({
    env: {
      DATABASE_URL: databaseUrl ?? '',
      RINGMASTER_DRACHTIO: sip.setting,
      RINGMASTER_FREESWITCH: media.setting,
    },
  });
  try {
    progress('a node without a cluster');
    return await measured([node], sip.address, undefined);
  } finally {
    await node.remove();
    await Promise.all([sip.stop(), media.stop()]);
  }
}

async function costOf(count: number, progress: Progress): Promise<Cost> {
  progress(`a cluster of ${count}`);
  const started = await TestCluster.start(count);
  try {
    const nodes = started.nodes.map(({ node }) => node);
    return await measured(nodes, started.sips[0]?.address ?? '', started.nats.port);
  } finally {
    await started.remove();
  }
}

/** @param nats port of NATS, if there is one */
async function measured(nodes: readonly TestNode[], sip: string, nats: number | undefined): Promise<Cost> {
  const pids = nodes.map(({ base }) => processListeningOn(Number(new URL(base).port)));
  const natsPid = nats === undefined ? undefined : processListeningOn(nats);
  const used = () => ({
    nodes: pids.reduce((sum, pid) => sum + cpuMs(pid), 0),
    nats: natsPid === undefined ? 0 : cpuMs(natsPid),
    at: performance.now(),
  });
  await load(sip, WARM);
  await delay(IDLE_MS);
  const begun = used();
  const { good, ringing } = await load(sip, CALLS);
  const over = used();
  // What they use anyway is no cost of a call. Before the calls, work of the start would count.
  await delay(IDLE_MS);
  const quiet = used();
  await delay(IDLE_MS);
  const idle = used();
  const share = (over.at - begun.at) / (idle.at - quiet.at);
  const each = (kind: 'nodes' | 'nats') => (over[kind] - begun[kind] - share * (idle[kind] - quiet[kind])) / good;
  return { call: each('nodes'), nats: each('nats'), ringing };
}

/** @returns calls that went through, as a node refuses some on a busy machine; milliseconds to ringing, p50 */
async function load(sip: string, calls: number): Promise<{ readonly good: number; readonly ringing: number }> {
  const [host = '', port] = sip.split(':');
  const run = new LoadRun({
    sip: { host, port: Number(port) },
    localHost: '127.0.0.1',
    domain: 'demo.local',
    callers: [{ login: 'alice', password: 'demo-alice' }],
    unregistered: false,
    callee: { kind: 'phones', accounts: [{ login: 'bob', password: 'demo-bob' }], dial: undefined },
    originate: undefined,
    rate: { from: RATE, to: RATE },
    calls,
    startMs: 120_000,
    live: 20,
    talkMs: 500,
    ringMs: 100,
    soundEvery: 0,
    allowNetwork: false,
  });
  const { calls: made, failures, setup } = reportOf(await run.run(), 0);
  if (made.good < calls / 2) throw new Error(`${calls - made.good} calls failed: ${JSON.stringify(failures)}`);
  return { good: made.good, ringing: setup.ringing?.p50 ?? Number.NaN };
}

/** Three nodes that hold calls which nobody made. */
async function madeCalls(progress: Progress): Promise<readonly Figure[]> {
  progress(`three nodes with ${MADE_CALLS} made calls`);
  const nats = await NatsServer.start();
  const share = MADE_CALLS / 3;
  const nodes: ChildProcess[] = [];
  try {
    for (let at = 0; at < 3; at += 1) {
      const args = [`127.0.0.1:${nats.port}`, `n${at}`, String(at * share), String(share)];
      const node = fork(PROGRAM, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
      nodes.push(node);
      await once(node, 'message');
    }
    const [first, , third] = nodes as [ChildProcess, ChildProcess, ChildProcess];
    while ((await ask(first, 'nodes')) < 3) await delay(20);
    if ((await ask(first, 'found')) !== 3) throw new Error('a call is not found');
    const lookups: number[] = [];
    for (let look = 0; look < LOOKS; look += 1) lookups.push(await ask(first, 'lookup'));
    const [firstPages, orderedPages]: [number[], number[]] = [[], []];
    for (let look = 0; look < LOOKS; look += 1) {
      firstPages.push(await ask(first, 'page'));
      orderedPages.push(await ask(first, 'ordered page'));
    }
    const lists: number[] = [];
    for (let look = 0; look < 10; look += 1) lists.push(await ask(first, 'list'));
    const index = await ask(first, 'index');
    const killed = performance.now();
    third.kill('SIGKILL');
    while ((await ask(first, 'found')) === 3) await delay(5);
    const gone = performance.now() - killed;
    while ((await ask(first, 'nodes')) === 3) await delay(5);
    const dead = performance.now() - killed;
    return [
      { what: `LOOKUP among ${MADE_CALLS} calls, p50 ms`, figure: percentile(lookups, 0.5) },
      { what: 'p99 ms', figure: percentile(lookups, 0.99) },
      { what: 'page of 100 of them, p50 ms', figure: percentile(firstPages, 0.5) },
      { what: 'page of the latest 100, p50 ms', figure: percentile(orderedPages, 0.5) },
      { what: `list of ${MADE_CALLS} calls, p50 ms`, figure: percentile(lists, 0.5) },
      { what: 'keeping a call for other nodes: us of processor time a call', figure: index, note: '4 messages' },
      { what: "ms until a killed node's calls are gone from LOOKUP", figure: gone },
      { what: 'ms until the node counts as dead', figure: dead },
    ];
  } finally {
    for (const node of nodes) node.kill('SIGKILL');
    await nats.remove();
  }
}

async function ask(node: ChildProcess, what: string): Promise<number> {
  const answered = once(node, 'message');
  node.send(what);
  const [answer] = (await answered) as [number];
  return answer;
}
