/**
 * Requests per second and CPU time per request of LOOKUP and GET list on an empty store, beside a bare Fastify handler in
 * the same run: `node_modules/.bin/node test/rest-bridge/bench.ts [seconds]`. The client runs in a thread of its own.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { devNull } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import Fastify from 'fastify';
import { pino } from 'pino';
import { createRestServer } from '../../rest-bridge/server.ts';
import { dialog, MemoryCalls, MemoryIam, MemoryOperations, MemoryRecords, NO_DATA } from './support/doubles.ts';
import { noConferences } from './support/no-conferences.ts';

interface Load {
  readonly port: number;
  readonly request: string;
  readonly seconds: number;
}

const CONNECTIONS = 32;
/** The best of so many is taken: other work on the machine only ever slows down. */
const ROUNDS = 3;
const BODY = JSON.stringify({ callid: 'b-1', mode: 'number', comment: 'seventy bytes, as a caller sends' });

if (isMainThread) await measure(Number(process.argv[2] ?? 1));
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- given by `run` below
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port, not a window
else parentPort?.postMessage(await generate(workerData as Load));

/** Keeps every connection busy with one request at a time; answers the number of requests. */
async function generate({ port, request, seconds }: Load): Promise<number> {
  const end = performance.now() + seconds * 1000;
  let count = 0;
  const drive = async () => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    socket.on('data', (chunk: Buffer) => {
      if (chunk.toString('latin1', 9, 12) !== '200') throw new Error(chunk.toString());
      count++;
      if (performance.now() < end) socket.write(request);
      else socket.end();
    });
    socket.write(request);
    await once(socket, 'close');
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, drive));
  return count;
}

async function measure(seconds: number): Promise<void> {
  const iam = new MemoryIam();
  const login = await iam.login({ domain: 'demo.local', login: 'admin', pwd: 'demo-admin' }, 'token', '127.0.0.1');
  const auth = `Host: x\r\nAuthorization: Bearer ${login.ok ? login.token : ''}\r\n`;
  const json = `Content-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;
  const list = `GET /rest/v1/uc/calls HTTP/1.1\r\n${auth}\r\n`;
  const lookup = `LOOKUP /rest/v1/uc/calls HTTP/1.1\r\n${auth}${json}`;
  const post = `POST /rest/v1/uc/calls!lookup HTTP/1.1\r\n${auth}${json}`;

  const bare = Fastify();
  bare.get('/rest/v1/uc/calls', async () => []);
  bare.post('/rest/v1/uc/calls!lookup', async () => ['1']);
  const rest = (level: string, found: boolean) => {
    const calls = new MemoryCalls();
    if (found) calls.dialogs.push(dialog('1'));
    const log = pino({ level }, pino.destination(devNull));
    const health = async () => ({ ok: true, roles: ['mware'], counts: {}, database: 'ok' as const });
    const records = new MemoryRecords();
    const operations = new MemoryOperations(calls);
    return createRestServer({
      iam,
      ...NO_DATA,
      calls,
      ...noConferences(calls),
      operations,
      operationRecords: records.operations,
      runs: records,
      health,
      log,
    });
  };
  const empty = await rest('info', false);
  const one = await rest('info', true);
  const silent = await rest('silent', true);
  const ports = await Promise.all(
    [bare, empty, one, silent].map(async (app) => {
      await app.listen({ host: '127.0.0.1', port: 0 });
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server's address is an AddressInfo
      return (app.server.address() as AddressInfo).port;
    }),
  );
  const [barePort = 0, emptyPort = 0, onePort = 0, silentPort = 0] = ports;
  const cases: readonly (readonly [name: string, port: number, request: string])[] = [
    ['bare GET list', barePort, list],
    ['GET list', emptyPort, list],
    ['bare POST !lookup', barePort, post],
    ['POST !lookup', onePort, post],
    ['LOOKUP', onePort, lookup],
    ['LOOKUP, log off', silentPort, lookup],
  ];
  for (const [, port, request] of cases) await run({ port, request, seconds: 0.3 });
  const best = new Map(cases.map(([name]) => [name, { perSecond: 0, cpu: Number.POSITIVE_INFINITY }]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, port, request] of cases) {
      const before = process.threadCpuUsage();
      const count = await run({ port, request, seconds });
      const { user, system } = process.threadCpuUsage(before);
      const { perSecond = 0, cpu = Number.POSITIVE_INFINITY } = best.get(name) ?? {};
      best.set(name, { perSecond: Math.max(perSecond, count / seconds), cpu: Math.min(cpu, (user + system) / count) });
    }
  }
  for (const [name, { perSecond, cpu }] of best) {
    process.stdout.write(
      `${name.padEnd(20)} ${perSecond.toFixed(0).padStart(7)} /s ${cpu.toFixed(1).padStart(7)} us CPU\n`,
    );
  }
  await Promise.all([bare.close(), empty.close(), one.close(), silent.close()]);
}

async function run(load: Load): Promise<number> {
  const worker = new Worker(new URL(import.meta.url), { workerData: load });
  const [count] = await once(worker, 'message');
  await worker.terminate();
  if (typeof count !== 'number') throw new Error('the client answered no number');
  return count;
}
