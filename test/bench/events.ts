import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { callEvents } from '../../runtime/events/call-events.ts';
import { DataNode } from '../rest-bridge/support/data-node.ts';
import { percentile } from './support/percentile.ts';
import type { Benchmark, Figure } from './support/report.ts';

const SUBSCRIBERS = 1_000;
/** A user may have a hundred subscriptions. */
const PER_USER = 100;
const PER_SECOND = 100;
const SECONDS = 5;
const LOGINS = 40;

/** Events to many subscribers over WebSocket, and logins; clients and server share one process. */
export const events: Benchmark = {
  title: `Events: ${SUBSCRIBERS} subscribers, ${PER_SECOND} changes a second; logins`,
  async run(progress) {
    const node = await DataNode.start();
    const sockets: WebSocket[] = [];
    try {
      const logins = await loginsPerSecond(node);
      progress(`${SUBSCRIBERS} subscribers connect`);
      const delays: number[] = [];
      const sent = new Map<string, number>();
      let authorization = '';
      for (let n = 0; n < SUBSCRIBERS; n++) {
        if (n % PER_USER === 0) authorization = `Bearer ${await newUser(node, n)}`;
        sockets.push(await subscribe(node.port, `s${n}`, { authorization }, sent, delays));
      }
      progress('changes');
      const started = performance.now();
      const bus = callEvents(node.events);
      for (let n = 0; n < PER_SECOND * SECONDS; n++) {
        await delay(Math.max(0, started + (n * 1000) / PER_SECOND - performance.now()));
        const dialogid = String(n);
        sent.set(dialogid, performance.now());
        bus.emit([asDomainName('demo.local')], 'call_init', { inviteid: 'i', connectionid: 'c', dialogid });
      }
      const wanted = SUBSCRIBERS * PER_SECOND * SECONDS;
      for (let waited = 0; delays.length < wanted && waited < 300; waited++) await delay(100);
      const seconds = (performance.now() - started) / 1000;
      return figures({ logins, told: delays.length, wanted, seconds, delays });
    } finally {
      for (const socket of sockets) socket.terminate();
      await node.close();
    }
  },
};

async function loginsPerSecond(node: DataNode): Promise<number> {
  const started = performance.now();
  await Promise.all(Array.from({ length: LOGINS }, () => node.login('alice@demo.local')));
  return LOGINS / ((performance.now() - started) / 1000);
}

/** @returns the token of a session of a separate user */
async function newUser(node: DataNode, n: number): Promise<string> {
  const login = `listener${n}`;
  const domain_id = node.domainId('demo.local');
  await node.iam.collections.users.create({ domain_id, login, pwd: `demo-${login}`, roles: ['user'] });
  return await node.login(`${login}@demo.local`);
}

async function subscribe(
  port: number,
  id: string,
  headers: Record<string, string>,
  sent: ReadonlyMap<string, number>,
  delays: number[],
): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, { headers });
  await once(socket, 'open');
  socket.send(JSON.stringify(['subscribe', { qid: 1, id, events: ['callevents'] }]));
  await once(socket, 'message');
  socket.on('message', (frame: Buffer) => {
    const dialogid = /"dialogid":"(\d+)"/.exec(frame.toString('utf8'))?.[1];
    const at = dialogid === undefined ? undefined : sent.get(dialogid);
    if (at !== undefined) delays.push(performance.now() - at);
  });
  return socket;
}

interface Measured {
  readonly logins: number;
  readonly told: number;
  readonly wanted: number;
  readonly seconds: number;
  readonly delays: readonly number[];
}

function figures({ logins, told, wanted, seconds, delays }: Measured): readonly Figure[] {
  return [
    { what: 'logins a second (one argon2id each)', figure: logins, note: `${LOGINS} at once` },
    { what: 'events told a second', figure: told / seconds, note: `${told} of ${wanted}` },
    { what: 'delay of an event, median, ms', figure: percentile(delays, 0.5) },
    { what: 'delay of an event, 99 %, ms', figure: percentile(delays, 0.99) },
  ];
}
