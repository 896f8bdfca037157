import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { type DialogEntry, MemoryCallStore } from '../../runtime/callstore/memory-callstore.ts';
import { Phone } from '../phones/phone.ts';
import { RestClient } from '../phones/rest-client.ts';
import { TestNode } from '../support/node.ts';
import { freeTcpPort } from '../support/ports.ts';
import { liveDialog } from './operations/dialogs.ts';
import { perSecond } from './support/http-load.ts';
import { percentile } from './support/percentile.ts';
import { RefusingPhone } from './support/refusing-phone.ts';
import type { Benchmark, Figure } from './support/report.ts';
import { ServerProcess } from './support/server-process.ts';

const LIVE = fileURLToPath(new URL('./operations/live-server.ts', import.meta.url));
const BARE = fileURLToPath(new URL('./operations/bare-server.ts', import.meta.url));
const SIZES = [10, 1000, 100_000];
const LISTED = 10_000;
/** The best of this many rounds, both servers in turn: other load only slows down. */
const ROUNDS = 3;
const SECONDS = Number(process.env['RINGMASTER_TEST_BENCH_SECONDS'] ?? 1.5);
const LOOKUPS = 50_000;
const TRANSFERS = 40;
const WARM_UP = 10;
/** Milliseconds; a bridge younger than two seconds is left with more care (`young-bridge.ts`). */
const TALK_MS = 2100;

/** Costs of operations on live calls, by the number of calls. */
export const operations: Benchmark = {
  title: `operations: with up to ${SIZES.at(-1)} live calls; requests over 16 connections, best of ${ROUNDS} times ${SECONDS} s`,
  async run(progress) {
    const figures: Figure[] = [];
    for (const size of SIZES) {
      progress(`callstore with ${size} calls`);
      figures.push(...(await inStore(size)));
    }
    for (const size of SIZES) {
      progress(`service with ${size} calls`);
      figures.push(...(await overHttp(size, ['LOOKUP', 'read'])));
    }
    figures.push(...(await overHttp(LISTED, ['list'])));
    progress('a whole node');
    figures.push(await atWholeNode());
    progress('a bare handler with a log');
    figures.push(await withLog());
    progress(`${TRANSFERS} transfers`);
    figures.push(...(await transfers()));
    return figures;
  },
};

/** Processor time of the callstore alone; the floor is a plain map with the same keys and calls. */
async function inStore(size: number): Promise<readonly Figure[]> {
  const store = new MemoryCallStore(() => undefined);
  const bare = new Map<string, DialogEntry>();
  const entries = Array.from({ length: size }, (_, index) => liveDialog(index));
  for (const entry of entries) {
    store.put(entry);
    bare.set(entry.view.dialogid, entry);
    for (const callid of entry.view.callids) bare.set(callid, entry);
  }
  const scope = { domain: asDomainName('demo.local') };
  const wanted = Array.from({ length: LOOKUPS }, () => {
    const { dialogid, callids } = (entries[Math.floor(Math.random() * size)] as DialogEntry).view;
    return { dialogid, callid: callids[1] as string };
  });
  const cost = async (work: (one: (typeof wanted)[number]) => unknown): Promise<number> => {
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < ROUNDS + 2; round += 1) {
      const before = process.cpuUsage();
      for (const one of wanted) await work(one);
      const { user, system } = process.cpuUsage(before);
      best = Math.min(best, (user + system) / LOOKUPS);
    }
    return best;
  };
  const calls = size.toLocaleString('en');
  return [
    {
      what: `microseconds of LOOKUP by Call-ID in the callstore; ${calls} calls`,
      figure: await cost(({ callid }) => store.lookup(scope, { callid })),
      floor: await cost(({ callid }) => bare.get(callid)?.view.dialogid),
    },
    {
      what: `microseconds of a read in the callstore; ${calls} calls`,
      figure: await cost(({ dialogid }) => store.read(scope, dialogid)),
      floor: await cost(({ dialogid }) => bare.get(dialogid)?.view),
    },
  ];
}

interface Named {
  readonly dialogid: string;
  readonly callid: string;
}

type Kind = 'LOOKUP' | 'read' | 'list';

interface Requests {
  readonly port: number;
  readonly request: () => string;
}

/** Requests per second, the best of some rounds. */
async function inTurns(ours: Requests, bare: Requests): Promise<Required<Pick<Figure, 'figure' | 'floor'>>> {
  let [figure, floor] = [0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    figure = Math.max(figure, await perSecond(ours.port, ours.request, { seconds: SECONDS }));
    floor = Math.max(floor, await perSecond(bare.port, bare.request, { seconds: SECONDS }));
  }
  return { figure, floor };
}

/** LOOKUP at a node as its user starts it, which has a call: with its log, its figures and all that it loads. */
async function atWholeNode(): Promise<Figure> {
  const barePort = await freeTcpPort();
  const bare = await ServerProcess.start([BARE, String(barePort), String(SIZES[0])], barePort, process.env);
  const node = await TestNode.start();
  const [x, y] = [await phoneOf(node, 'alice'), await phoneOf(node, 'bob')];
  const client = await node.login('admin');
  try {
    await Promise.all([x.register(), y.register()]);
    const calling = await x.call('102');
    await (await y.incoming()).answer();
    await calling.answered();
    const named = { dialogid: '', callid: calling.callId };
    const auth = `Host: x\r\nAuthorization: Bearer ${client.token}\r\n`;
    const { named: others } = JSON.parse(bare.health) as { named: Named[] };
    const rates = await inTurns(
      { port: Number(new URL(node.base).port), request: () => liveRequest('LOOKUP', named, auth) },
      { port: barePort, request: () => bareRequest('LOOKUP', any(others)) },
    );
    return { what: 'LOOKUP, requests a second, a whole node with a call', ...rates };
  } finally {
    client.close();
    await Promise.all([x.stop({ abruptly: true }), y.stop({ abruptly: true })]);
    await node.remove();
    await bare.stop();
  }
}

/** What a line of log for each request leaves of the floor. */
async function withLog(): Promise<Figure> {
  const port = await freeTcpPort();
  const bare = await ServerProcess.start([BARE, String(port), String(SIZES[0])], port, process.env);
  try {
    const { named, loggedPort } = JSON.parse(bare.health) as { named: Named[]; loggedPort: number };
    const request = (): string => bareRequest('LOOKUP', any(named));
    const rates = await inTurns({ port: loggedPort, request }, { port, request });
    return { what: 'LOOKUP, requests a second, the bare handler with a line of log for each', ...rates };
  } finally {
    await bare.stop();
  }
}

function phoneOf(node: TestNode, login: string): Promise<Phone> {
  return Phone.start({ login, domain: 'demo.local', password: `demo-${login}`, registrar: node.sip });
}

/** Requests per second through sessions, rights, checks and log; the floor is a bare Fastify handler over maps. */
async function overHttp(size: number, kinds: readonly Kind[]): Promise<readonly Figure[]> {
  const [livePort, barePort] = [await freeTcpPort(), await freeTcpPort()];
  const live = await ServerProcess.start([LIVE, String(livePort), String(size)], livePort, process.env);
  try {
    const bare = await ServerProcess.start([BARE, String(barePort), String(size)], barePort, process.env);
    try {
      const { port, token, named } = JSON.parse(live.health) as { port: number; token: string; named: Named[] };
      const { named: others } = JSON.parse(bare.health) as { named: Named[] };
      const auth = `Host: x\r\nAuthorization: Bearer ${token}\r\n`;
      const figures: Figure[] = [];
      for (const kind of kinds) {
        const what = kind === 'list' ? 'list with filter, order and limit 20' : kind;
        const rates = await inTurns(
          { port, request: () => liveRequest(kind, any(named), auth) },
          { port: barePort, request: () => bareRequest(kind, any(others)) },
        );
        figures.push({ what: `${what}, requests a second; ${size.toLocaleString('en')} calls`, ...rates });
      }
      return figures;
    } finally {
      await bare.stop();
    }
  } finally {
    await live.stop();
  }
}

function any(named: readonly Named[]): Named {
  return named[Math.floor(Math.random() * named.length)] as Named;
}

function liveRequest(kind: Kind, { dialogid, callid }: Named, auth: string): string {
  const base = '/rest/v1/uc/calls';
  if (kind === 'LOOKUP') return withBody(`LOOKUP ${base}`, auth, { callid });
  if (kind === 'read') return `GET ${base}/${dialogid} HTTP/1.1\r\n${auth}\r\n`;
  const query = new URLSearchParams({ filter: '{"site":"north"}', order: '["dialogid"]', limit: '20' });
  return `GET ${base}?${query.toString()} HTTP/1.1\r\n${auth}\r\n`;
}

function bareRequest(kind: Kind, { dialogid, callid }: Named): string {
  const head = 'Host: x\r\n';
  if (kind === 'LOOKUP') return withBody('POST /lookup', head, { callid });
  return `GET ${kind === 'read' ? `/read/${dialogid}` : '/list?site=north'} HTTP/1.1\r\n${head}\r\n`;
}

function withBody(start: string, head: string, body: object): string {
  const text = JSON.stringify(body);
  return `${start} HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
}

/** Milliseconds from REFER to the INVITE at Z's phone; the floor is one INVITE requested over HTTP. */
async function transfers(): Promise<readonly Figure[]> {
  const z = await RefusingPhone.open('carol');
  try {
    const ours = await throughNode(z);
    const floor = await throughReference(z);
    return [0.5, 0.99].map((share) => ({
      what: `ms from REFER to Z's INVITE, p${share * 100}`,
      figure: percentile(ours, share),
      floor: percentile(floor, share),
    }));
  } finally {
    await z.close();
  }
}

async function throughNode(z: RefusingPhone): Promise<number[]> {
  const node = await TestNode.start({ env: { RINGMASTER_LOG_LEVEL: 'warn' } });
  const [x, y] = [await phoneOf(node, 'alice'), await phoneOf(node, 'bob')];
  const client = await node.login('admin');
  try {
    await Promise.all([x.register(), y.register(), z.register(node.sip)]);
    const times: number[] = [];
    for (let round = 0; round < WARM_UP + TRANSFERS; round += 1) {
      const calling = await x.call('102');
      const called = await y.incoming();
      await called.answer();
      await calling.answered();
      await delay(TALK_MS);
      const body = { callid: calling.callId, by: '<sip:alice@demo.local>', referto: '103', response_mode: 0 };
      const sent = performance.now();
      const answered = client.send('REFER', '/rest/v1/uc/calls', { body });
      const [arrived, answer] = await Promise.all([z.invites.next(5000), answered]);
      if (answer.status !== 200) throw new Error(`REFER: ${answer.status} ${answer.text}`);
      if (round >= WARM_UP) times.push(arrived - sent);
      await called.hangup();
      await calling.hangup();
      // So that each finds the node idle, and no initiator is called back.
      await delay(30);
    }
    return times;
  } finally {
    client.close();
    await Promise.all([x.stop({ abruptly: true }), y.stop({ abruptly: true })]);
    await node.remove();
  }
}

async function throughReference(z: RefusingPhone): Promise<number[]> {
  const reference = await ServerProcess.reference();
  const client = new RestClient(reference.base);
  try {
    const times: number[] = [];
    for (let round = 0; round < WARM_UP + TRANSFERS; round += 1) {
      const sent = performance.now();
      const answered = client.send('POST', '/call', { body: { to: z.contact } });
      const [arrived] = await Promise.all([z.invites.next(5000), answered]);
      if (round >= WARM_UP) times.push(arrived - sent);
      await delay(20);
    }
    return times;
  } finally {
    client.close();
    await reference.stop();
  }
}
