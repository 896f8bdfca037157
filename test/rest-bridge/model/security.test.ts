import { connect } from 'node:net';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { Reply } from '../support/rest-node.ts';
import type { Who } from '../support/data-node.ts';
import { describeNodes } from '../support/data-nodes.ts';

const ADMIN: Who = 'admin@demo.local';
const ATTACKS = [
  `'; drop table model.c_1; --`,
  `" or ""="`,
  `\\'; select pg_sleep(10); --`,
  '$1',
  '$$; truncate users; $$',
  `x' union select password from users --`,
  '/**/',
  'a'.repeat(2_000),
  '\u2028\u0027',
  '%27%3B--',
];

describeNodes('REST: attacks on the data model', (node) => {
  const send = (method: string, path: string, body?: unknown): Promise<Reply> => node().as(ADMIN, method, path, body);
  const list = (query: Record<string, unknown>): Promise<Reply> =>
    send(
      'GET',
      `/model/victim?${new URLSearchParams(Object.entries(query).map(([key, value]): [string, string] => [key, typeof value === 'string' ? value : JSON.stringify(value)]))}`,
    );
  before(async () => {
    await send('POST', '/domain/classes', {
      classname: 'victim',
      storage_mode: 'category',
      properties: [
        { name: 'name', data_type: 'string', index: 'wildcard' },
        { name: 'n', data_type: 'integer' },
        { name: 'any', data_type: 'any' },
      ],
      opts: { lookup_properties: ['name'] },
    });
    await send('POST', '/model/victim', { id: 'kept', name: 'kept', n: 1, any: { a: 1 } });
  });
  afterEach(async () => {
    expect((await send('GET', '/model/victim/kept')).body).to.deep.equal({
      id: 'kept',
      name: 'kept',
      n: 1,
      any: { a: 1 },
    });
    const { rows } = await sql<{ n: number }>`select count(*)::integer as n from users`.execute(node().storage.db);
    expect(rows[0]?.n).to.be.greaterThan(4);
    expect(node().log).to.deep.equal([]);
  });

  it('U+0000 in names and a too long multipart boundary are refused', async () => {
    for (const [method, path, body] of [
      ['GET', '/model/victim/%00'],
      ['DELETE', '/model/victim/%00'],
      ['GET', '/iam/users/%00/sessions'],
      ['GET', '/domain/recordings/%00'],
      ['LOOKUP', '/domain/sipusers', { login: '\0' }],
      ['LOOKUP', '/model/victim', { name: '\0' }],
    ] as const) {
      const reply = await send(method, path, body);
      expect(reply.status, `${method} ${path} ${reply.text}`).to.be.oneOf([400, 404]);
    }
    const headers = { 'content-type': `multipart/form-data; boundary=${'b'.repeat(300)}` };
    for (const [method, path] of [
      ['POST', '/model/victim'],
      ['PUT', '/user/avatar'],
      ['POST', '/domain/sipusers'],
    ] as const) {
      const reply = await node().as(ADMIN, method, path, 'x', headers);
      expect([reply.status, (reply.body as { error_code: number }).error_code], path).to.deep.equal([400, 1400]);
    }
  });

  it('SQL in names is refused, SQL in values is a value', async () => {
    for (const attack of ATTACKS) {
      const wrong = [
        await send('POST', '/domain/classes', { classname: attack, storage_mode: 'category' }),
        await send('POST', '/domain/classes', { classname: 'x', storage_mode: attack }),
        await send('POST', '/domain/classes', {
          id: attack,
          classname: 'x',
          storage_mode: 'ram',
          properties: [{ name: attack, data_type: 'z' }],
        }),
        await list({ filter: ['==', ['property', attack], 1] }),
        await list({ filter: { [attack]: 'x' } }),
        await list({ filter: [attack, 1] }),
        await list({ order: [attack] }),
        await list({ order: [{ n: attack }] }),
        await list({ aggr: { n: ['sum', ['property', attack]] } }),
        await list({ groupby: { x: attack } }),
        await list({ limit: attack }),
        await send('LOOKUP', '/model/victim', { [attack]: 'x' }),
        await send('POST', '/model/victim', { [attack]: 'x' }),
        await send('SETUP', '/model/victim', { cmd: attack }),
        await send('SETUP', '/model/victim', { cmd: 'drop_partition', partition: attack }),
      ];
      for (const { status, text } of wrong) expect(status, `${attack}: ${text}`).to.be.within(400, 422);
      const fine = [
        await list({ filter: ['==', ['property', 'name'], attack] }),
        await list({ filter: ['==', ['property', 'any', attack], attack] }),
        await list({ filter: { name: `%${attack.replaceAll(/[%|\\~;]/g, '')}` } }),
        await list({ mask: attack }),
        await list({ aggr: { [attack]: ['count'] }, groupby: { [`${attack}2`]: 'n' }, order: [{ [attack]: 'asc' }] }),
        await list({ snapshot: attack.slice(0, 60) }),
      ];
      // A dot in a name leads into a field, so some names cannot be ordered by; nothing of it is an error of the server.
      for (const { status, text } of fine) expect([200, 400], `${attack}: ${text}`).to.include(status);
      const made = await send('POST', '/model/victim', { name: attack, any: { [`k${attack}`]: attack } });
      expect(made.status, made.text).to.equal(200);
      expect((await send('LOOKUP', '/model/victim', { name: attack })).body).to.deep.equal([
        (made.body as { id: string }).id,
      ]);
      await send('DELETE', `/model/victim/${(made.body as { id: string }).id}`);
    }
  });

  it('paths cannot leave the base', async () => {
    for (const path of [
      '/model/../iam/users',
      '/model/victim/..%2f..%2fiam/users',
      '/model/%2e%2e/iam/users',
      '/model/victim/%00',
      '/model/victim/kept/any',
      '/model/victim/kept%2Fany',
      `/model/${'a/'.repeat(200)}`,
      '/model/victim%21lookup/x',
    ]) {
      const status = await raw(
        node().port,
        `GET /rest/v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${await node().token('alice@demo.local')}\r\n\r\n`,
      );
      expect([400, 403, 404, 405], path).to.include(status);
    }
  });

  it('bombs cost milliseconds', async function () {
    this.timeout(20_000);
    await send('PUT', '/model/victim/long', { name: `${'a'.repeat(5_000)}!` });
    let deep: unknown = ['==', 1, 1];
    for (let n = 0; n < 500; n += 1) deep = ['not', deep];
    const patterns = [
      '(a+)+$',
      '(a|aa)+$',
      '(a*)*b',
      '^(([a-z])+.)+[A-Z]([a-z])+$',
      '((((a{1,100}){1,100}){1,100}){1,100})',
      `${'(a?)'.repeat(60)}${'a'.repeat(10)}`,
    ];
    const bombs: Record<string, unknown>[] = [
      ...patterns.map((pattern) => ({ filter: ['regexp', ['property', 'name'], pattern] })),
      ...patterns.map((pattern) => ({ filter: { name: `/reg/i/${pattern}` } })),
      { filter: { name: `${'%a'.repeat(100)}%b` } },
      { filter: deep },
      { filter: ['and', ...Array.from({ length: 600 }, () => ['==', 1, 1])] },
      { filter: `${'['.repeat(5_000)}${']'.repeat(5_000)}` },
      { order: Array.from({ length: 100 }, () => 'name') },
      { aggr: Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`n${n}`, ['count']])) },
      { mask: Array.from({ length: 1_000 }, (_, n) => `a${n}.b.c.d`).join() },
      { offset: '9007199254740991' },
    ];
    for (const bomb of bombs) {
      const began = performance.now();
      const { status, text } = await list(bomb);
      const milliseconds = performance.now() - began;
      expect([200, 400, 431], text).to.include(status);
      expect(milliseconds, JSON.stringify(bomb).slice(0, 80)).to.be.lessThan(1_500);
    }
    await send('DELETE', '/model/victim/long');
    const nested = `{"any":${'['.repeat(5_000)}1${']'.repeat(5_000)}}`;
    expect((await send('POST', '/model/victim', nested)).status).to.equal(400);
    expect((await send('POST', '/model/victim', { name: 'x'.repeat(2_000_000) })).status).to.equal(413);
  });

  it('properties may have the names of members of every object', async () => {
    const names = ['constructor', 'toString', 'valueOf', 'hasOwnProperty'];
    const properties = names.map((name) => ({ name, data_type: 'string' }));
    for (const mode of ['category', 'ram']) {
      const classname = `constructor/${mode}`;
      await send('POST', '/domain/classes', { classname, storage_mode: mode, properties });
      const made = await send('POST', `/model/${classname}`, { id: 'a', toString: 'text' });
      const entity = { id: 'a', constructor: null, toString: 'text', valueOf: null, hasOwnProperty: null };
      expect(made.body, made.text).to.deep.equal(entity);
      expect((await send('PATCH', `/model/${classname}/a`, { valueOf: 'x' })).body).to.deep.equal({
        ...entity,
        valueOf: 'x',
      });
      const found = await send('GET', `/model/${classname}?filter={"valueOf":"x"}&order=["toString"]&mask=id,valueOf`);
      expect(found.body, found.text).to.deep.equal([{ id: 'a', valueOf: 'x' }]);
    }
  });

  it('keys that would reach a prototype, and texts that databases cannot store, are refused', async () => {
    for (const body of [
      '{"__proto__":{"name":"x"}}',
      '{"any":{"__proto__":{}}}',
      '{"any":{"constructor":{"prototype":{}}}}',
    ]) {
      expect((await send('POST', '/model/victim', body)).status, body).to.equal(400);
    }
    for (const body of ['{"name":"\\u0000"}', '{"name":"\\ud800"}', '{"any":{"\\u0000":1}}', '{"n":1e400}']) {
      expect((await send('POST', '/model/victim', body)).status, body).to.equal(400);
    }
  });
});

/** Sends what is not to be tidied up on the way, and answers the status. */
async function raw(port: number, request: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const socket = connect(port, '127.0.0.1');
  socket.on('error', reject);
  socket.on('data', (chunk) => {
    resolve(Number(chunk.toString('latin1').split(' ')[1]));
    socket.destroy();
  });
  socket.write(request);
  return promise;
}
