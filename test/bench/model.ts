import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { openDirectory } from '../../runtime/domain/index.ts';
import { createDemoData, isEmpty } from '../../runtime/iam/index.ts';
import { openModel } from '../../runtime/model/index.ts';
import { openFiles } from '../../runtime/storage/files/index.ts';
import { openStorage } from '../../runtime/storage/index.ts';
import { postgresServer, stopPostgresServer } from '../storage/support/postgres-server.ts';
import { TestNode } from '../support/node.ts';
import { freeTcpPort } from '../support/ports.ts';
import { measureMemory } from './model-memory.ts';
import { perSecond } from './support/http-load.ts';
import { type Benchmark, type Figure, Unavailable } from './support/report.ts';
import { ServerProcess } from './support/server-process.ts';

const BARE = fileURLToPath(new URL('./support/bare-model-server.ts', import.meta.url));
/** The best of this many rounds, node and floor in turn: other load only slows down. */
const ROUNDS = 3;
const SECONDS = Number(process.env['RINGMASTER_TEST_BENCH_SECONDS'] ?? 1.5);
const ROWS = (process.env['RINGMASTER_TEST_BENCH_ROWS'] ?? '100000,1000000').split(',').map(Number);
const STATES = ['new', 'open', 'done', 'void'];
const MEMORY_ROWS = 20_000;

/** Requests per second to collections of the data model. */
export const model: Benchmark = {
  title: `model: requests a second over HTTP, 16 connections, best of ${ROUNDS} times ${SECONDS} s`,
  async run(progress) {
    const server = await postgresServer();
    if (server === undefined) throw new Unavailable('PostgreSQL is not installed');
    try {
      const figures: Figure[] = [];
      for (const rows of ROWS) {
        progress(`PostgreSQL, ${rows} rows`);
        figures.push(...(await measure(rows, await server.createDatabase())));
      }
      for (const rows of ROWS) {
        progress(`PGlite, ${rows} rows`);
        figures.push(...(await measure(rows, undefined)));
      }
      for (const rows of ROWS) {
        progress(`memory, ${rows} entities`);
        figures.push(...(await measureMemory(rows)));
      }
      return figures;
    } finally {
      await stopPostgresServer();
    }
  },
};

async function measure(rows: number, databaseUrl: string | undefined): Promise<readonly Figure[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'ringmaster-bench-'));
  const columns = await fill(dataDir, databaseUrl, rows);
  const node = await TestNode.start({
    dataDir,
    env: { RINGMASTER_LOG_LEVEL: 'warn', ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }) },
  });
  const barePort = await freeTcpPort();
  const bare =
    databaseUrl === undefined
      ? undefined
      : await ServerProcess.start([BARE, String(barePort), databaseUrl, ...columns], barePort, process.env);
  try {
    const client = await node.login('admin');
    const auth = `Host: x\r\nAuthorization: Bearer ${client.token ?? ''}\r\n`;
    await fillMemory(client);
    client.close();
    const port = Number(new URL(node.base).port);
    const kind = databaseUrl === undefined ? 'PGlite' : 'PostgreSQL';
    const where = `${kind}, ${rows.toLocaleString('en')} rows`;
    const figures: Figure[] = [];
    const cases = requests(rows, auth, databaseUrl === undefined);
    for (const [what, ours, theirs] of cases) {
      let [figure, floor] = [0, 0];
      for (let round = 0; round < ROUNDS; round += 1) {
        figure = Math.max(figure, await perSecond(port, ours, { seconds: SECONDS }));
        if (theirs !== undefined && bare !== undefined) {
          floor = Math.max(floor, await perSecond(barePort, theirs, { seconds: SECONDS }));
        }
      }
      figures.push({ what: `${what}; ${where}`, figure, ...(floor > 0 && { floor }) });
    }
    return figures;
  } finally {
    await bare?.stop();
    await node.remove();
    await rm(dataDir, { recursive: true, force: true });
  }
}

type Case = readonly [what: string, ours: () => string, theirs?: () => string];

function requests(rows: number, auth: string, embedded: boolean): readonly Case[] {
  const random = (below: number): number => Math.floor(Math.random() * below);
  const state = (): string => STATES[random(STATES.length)] ?? '';
  const get = (path: string): string => `GET ${path} HTTP/1.1\r\n${auth}\r\n`;
  const post = (path: string, body: object): string => {
    const text = JSON.stringify(body);
    return `POST ${path} HTTP/1.1\r\n${auth}Content-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
  };
  const query = (parameters: Readonly<Record<string, unknown>>): string =>
    new URLSearchParams(
      Object.entries(parameters).map(([key, value]): [string, string] => [
        key,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    ).toString();
  const entity = (): object => ({
    name: `name ${random(1e6)}`,
    state: state(),
    age: random(100_000),
    note: 'a few words',
  });
  const ages = rows / 10;
  return [
    [
      'list: filter, order, limit 20',
      () => {
        const filter = ['and', ['==', ['property', 'state'], state()], ['>=', ['property', 'age'], random(ages)]];
        return get(`/rest/v1/model/bench?${query({ filter, order: ['age'], limit: '20' })}`);
      },
      () => get(`/list?state=${state()}&age=${random(ages)}`),
    ],
    ['read', () => get(`/rest/v1/model/bench/e${random(rows)}`), () => get(`/read/e${random(rows)}`)],
    [
      'aggregate of ten entities',
      () => {
        const parameters = { filter: { age: random(ages) }, aggr: { n: ['count'] }, groupby: { state: 'state' } };
        return get(`/rest/v1/model/bench?${query(parameters)}`);
      },
      () => get(`/aggregate?age=${random(ages)}`),
    ],
    ['insert', () => post('/rest/v1/model/bench', entity()), () => post('/insert', entity())],
    ...(embedded
      ? ([
          [
            `snapshot page of 20, of ${MEMORY_ROWS} entities in memory`,
            () =>
              get(
                `/rest/v1/model/memory?${query({ snapshot: 's', order: ['n'], limit: '20', offset: String(random(900) * 20) })}`,
              ),
          ],
        ] satisfies Case[])
      : []),
  ];
}

/** Creates a class with entities directly in the database; returns its table and the columns of its properties. */
async function fill(dataDir: string, databaseUrl: string | undefined, rows: number): Promise<readonly string[]> {
  const storage = await openStorage({ dataDir, databaseUrl, queryTimeoutMs: 300_000 });
  const live = await openModel(storage, { files: openFiles(join(dataDir, 'files')) });
  try {
    if (await isEmpty(storage)) await createDemoData(storage);
    const domain = (await openDirectory(storage)).domain('demo.local')?.id ?? '';
    const { id } = await live.classes(domain).create({
      classname: 'bench',
      storage_mode: 'category',
      properties: [
        { name: 'name', data_type: 'string' },
        { name: 'state', data_type: 'enum', items: STATES, index: ['age'] },
        { name: 'age', data_type: 'integer', index: true },
        { name: 'note', data_type: 'string' },
      ],
    });
    await live
      .classes(domain)
      .create({ classname: 'memory', storage_mode: 'ets', properties: [{ name: 'n', data_type: 'integer' }] });
    const { rows: found } = await sql<{ number: number; columns: Record<string, number> }>`
      select number, columns from model_classes where id = ${id}`.execute(storage.db);
    const [stored] = found;
    if (stored === undefined) throw new Error('no class');
    const column = (name: string): string => `p_${stored.columns[name]}`;
    const names = ['name', 'state', 'age', 'note'].map(column);
    const table = `model.c_${stored.number}`;
    for (let from = 0; from < rows; from += 100_000) {
      await sql`
        insert into ${sql.raw(table)} (id, ${sql.raw(names.join(', '))})
        select 'e' || n, 'name ' || n, (array['new', 'open', 'done', 'void'])[1 + n % 4], (n * 7919::bigint % ${rows / 10}::bigint)::integer,
          'a few words about it'
        from generate_series(${from}::integer, ${Math.min(rows, from + 100_000) - 1}::integer) n`.execute(storage.db);
    }
    await sql`vacuum analyze ${sql.raw(table)}`.execute(storage.db);
    return [table, ...names];
  } finally {
    await live.close();
    await storage.close();
  }
}

async function fillMemory(client: Awaited<ReturnType<TestNode['login']>>): Promise<void> {
  for (let from = 0; from < MEMORY_ROWS; from += 20) {
    const made = Array.from({ length: 20 }, (_, n) =>
      client.send('POST', '/rest/v1/model/memory', { body: { id: `m${from + n}`, n: (from + n) % 1000 } }),
    );
    for (const answer of await Promise.all(made)) if (answer.status !== 200) throw new Error(answer.text);
  }
  const first = await client.get('/rest/v1/model/memory', { snapshot: 's', order: '["n"]', limit: 20 });
  if (first.status !== 200) throw new Error(first.text);
}
