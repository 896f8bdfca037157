import { expect } from 'chai';
import type { Reply } from '../support/rest-node.ts';
import type { Who } from '../support/data-node.ts';
import { describeNodes } from '../support/data-nodes.ts';

const ADMIN: Who = 'admin@demo.local';
const EVE: Who = 'eve@other.local';
const ALICE: Who = 'alice@demo.local';

const PROPERTIES = [
  { name: 'name', data_type: 'string', required: true },
  { name: 'code', data_type: 'str', unique: true },
  { name: 'age', data_type: 'int', index: true },
  { name: 'tags', data_type: 'string', multi: true },
  { name: 'extra', data_type: 'any', merge_levels: 2 },
  { name: 'state', data_type: 'enum', items: ['new', 'done'], default: 'new' },
];

describeNodes('REST: model collections', (node) => {
  let classes = 0;
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
    node().as(ADMIN, method, path, body, headers);

  /** A class of its own for each test; answers its path. */
  async function makeClass(settings: object = {}): Promise<string> {
    const classname = `shop${++classes}/customers`;
    const reply = await send('POST', '/domain/classes', {
      classname,
      storage_mode: 'category',
      properties: PROPERTIES,
      opts: { lookup_properties: ['code', 'age'] },
      ...settings,
    });
    expect(reply.status, reply.text).to.equal(200);
    return `/model/${classname}`;
  }

  function expectError(reply: Reply, status: number, code: number, field?: string): void {
    expect(reply.status, reply.text).to.equal(status);
    expect(reply.body).to.have.property('error_code', code);
    if (field !== undefined) expect(reply.body).to.have.nested.property('error_details.field', field);
  }

  for (const mode of ['category', 'ram', 'runtime', 'ets']) {
    describe(`storage_mode ${mode}`, () => {
      let path: string;
      beforeEach(async () => {
        path = await makeClass({ storage_mode: mode });
      });

      it('POST, GET, PUT, PATCH and DELETE follow the table of the specification', async () => {
        const made = await send('POST', path, { name: 'Ann', age: 30 });
        expect(made.status, made.text).to.equal(200);
        const { id } = made.body as { id: string };
        const ann = { id, name: 'Ann', code: null, age: 30, tags: null, extra: null, state: 'new' };
        expect(made.body).to.deep.equal(ann);
        expect((await send('GET', `${path}/${id}`)).body).to.deep.equal(ann);
        expect((await send('GET', path)).body).to.deep.equal([ann]);
        expect((await send('GET', `${path}/${id}?mask=name,age`)).body).to.deep.equal({ name: 'Ann', age: 30 });

        const patched = await send('PATCH', `${path}/${id}`, { age: 31, code: 'a1', extra: { a: { b: 1, c: 2 } } });
        expect(patched.status, patched.text).to.equal(200);
        expect(patched.body).to.deep.equal({ ...ann, age: 31, code: 'a1', extra: { a: { b: 1, c: 2 } } });

        const put = await send('PUT', `${path}/${id}`, { name: 'Anna' });
        expect(put.body).to.deep.equal({ ...ann, name: 'Anna', age: null });
        const placed = await send('PUT', `${path}/fresh`, { name: 'Fred' });
        expect(placed.status).to.equal(200);
        expect(placed.body).to.deep.include({ id: 'fresh', name: 'Fred' });

        const removed = await send('DELETE', `${path}/${id}`);
        expect([removed.status, removed.text]).to.deep.equal([204, '']);
        for (const method of ['GET', 'PATCH', 'DELETE']) {
          expectError(await send(method, `${path}/${id}`, method === 'PATCH' ? {} : undefined), 404, 1404);
        }
      });

      it('PATCH merges to merge_levels, appends with append=true, and null clears', async () => {
        await send('PUT', `${path}/a`, { name: 'A', tags: ['x'], extra: { p: { q: { r: 1, s: 2 } }, t: 1 } });
        const merged = await send('PATCH', `${path}/a`, { extra: { p: { q: { r: 9 }, u: 5 }, t: null } });
        expect(merged.body).to.deep.include({ extra: { p: { q: { r: 9 }, u: 5 } } });
        expect((await send('PATCH', `${path}/a?append=true`, { tags: ['y', 'z'] })).body).to.deep.include({
          tags: ['x', 'y', 'z'],
        });
        expect((await send('PATCH', `${path}/a`, { tags: ['w'] })).body).to.deep.include({ tags: ['w'] });
        expect((await send('PATCH', `${path}/a`, { tags: null, extra: null })).body).to.deep.include({
          tags: null,
          extra: null,
        });
        expectError(await send('PATCH', `${path}/a`, { name: null }), 400, 1400, 'name');
        expectError(await send('PATCH', `${path}/a`, { id: 'b' }), 400, 1400, 'id');
      });

      it('LOOKUP answers ids by id and by lookup_properties, CLEAR removes all', async () => {
        await send('POST', path, { id: 'a', name: 'A', code: 'c1', age: 5 });
        await send('POST', path, { id: 'b', name: 'B', code: 'c2', age: 5 });
        expect((await send('LOOKUP', path, { code: 'c2' })).body).to.deep.equal(['b']);
        expect((await send('LOOKUP', path, { age: 5 })).body).to.deep.equal(['a', 'b']);
        expect((await send('LOOKUP', path, { id: 'a', age: 5 })).body).to.deep.equal(['a']);
        expect((await send('POST', `${path}!lookup`, { id: 'b' })).body).to.deep.equal(['b']);
        expectError(await send('LOOKUP', path, { code: 'none' }), 404, 1404);
        expectError(await send('LOOKUP', path, { name: 'A' }), 400, 1400, 'name');
        const cleared = await send('CLEAR', path);
        expect([cleared.status, cleared.text]).to.deep.equal([204, '']);
        expect((await send('GET', `${path}?limit=0`)).body).to.deep.equal({ count: 0 });
      });

      it('ids and unique values are unique; invalid fields are named', async () => {
        await send('POST', path, { id: 'a', name: 'A', code: 'c' });
        expectError(await send('POST', path, { id: 'a', name: 'A' }), 409, 1402, 'id');
        expectError(await send('POST', path, { name: 'B', code: 'c' }), 409, 1402, 'code');
        expectError(await send('PUT', `${path}/b`, { name: 'B', code: 'c' }), 409, 1402, 'code');
        for (const [field, body] of Object.entries({
          name: {},
          age: { name: 'x', age: '5' },
          state: { name: 'x', state: 'old' },
          tags: { name: 'x', tags: 'no list' },
          nothing: { name: 'x', nothing: 1 },
          id: { name: 'x', id: 'a/b' },
        })) {
          expectError(await send('POST', path, body), 400, 1400, field);
        }
        expectError(await send('POST', path), 400, 1400, 'body');
        expectError(await send('POST', path, '[1]'), 400, 1400, '0');
        expectError(await send('POST', path, '{"a":'), 400, 1400, 'body');
        expect((await send('GET', `${path}?countonly=true`)).body).to.deep.equal({ count: 1 });
      });

      it('an export is posted back as a whole or not at all', async () => {
        const given = [{ id: 'a', name: 'Ann', code: 'A' }, { name: 'Bob' }, { name: 'Eve', tags: ['x'] }];
        const made = await send('POST', path, given);
        expect(made.status, made.text).to.equal(200);
        expect(made.body).to.have.length(3).and.have.nested.property('[0].code', 'A');
        const exported = (await send('GET', `${path}?export=true`)).body as object[];
        await send('CLEAR', path);
        expect((await send('POST', path, exported)).status).to.equal(200);
        expect((await send('GET', `${path}?export=true`)).body).to.deep.equal(exported);
        for (const [wrong, status, code, field] of [
          [{ id: 'a', name: 'Again' }, 409, 1402, '1.id'],
          [{ name: 'Again', code: 'A' }, 409, 1402, '1.code'],
          [{ name: 5 }, 400, 1400, '1.name'],
          ['text', 400, 1400, '1'],
        ] as const) {
          expectError(await send('POST', path, [{ id: 'new', name: 'New' }, wrong]), status, code, field);
        }
        const empty = await send('POST', path, []);
        expect([empty.status, empty.body]).to.deep.equal([200, []]);
        expectError(await send('PUT', `${path}/a`, [{ name: 'x' }]), 400, 1400, 'body');
        expect((await send('GET', `${path}?export=true`)).body).to.deep.equal(exported);
      });

      it('If-Match lets a client overwrite only the version that it has read', async () => {
        const made = await send('POST', path, { id: 'a', name: 'Ann', tags: ['x'], extra: { b: 1, a: [2] } });
        expect(made.status, made.text).to.equal(200);
        const first = made.headers.get('etag') ?? '';
        expect(first).to.match(/^"[\w-]{43}"$/);
        const read = await send('GET', `${path}/a`);
        expect(read.headers.get('etag')).to.equal(first);
        expect((await send('GET', `${path}/a?mask=name`)).headers.get('etag')).to.equal(null);
        const known = await send('GET', `${path}/a`, undefined, { 'if-none-match': `"x", W/${first}` });
        expect([known.status, known.text]).to.deep.equal([304, '']);
        const changed = await send('PATCH', `${path}/a`, { name: 'Bob' }, { 'if-match': `"x", ${first}` });
        expect(changed.status, changed.text).to.equal(200);
        const second = changed.headers.get('etag');
        expect(second).not.to.equal(first);
        for (const [method, body] of [
          ['PATCH', { name: 'Eve' }],
          ['PUT', { name: 'Eve' }],
          ['DELETE', undefined],
        ] as const) {
          const refused = await send(method, `${path}/a`, body, { 'if-match': first });
          expectError(refused, 412, 1412, 'if-match');
          expect(refused.headers.get('etag')).to.equal(second);
        }
        expectError(await send('PUT', `${path}/a`, { name: 'Eve' }, { 'if-none-match': '*' }), 412, 1412);
        expectError(await send('PUT', `${path}/b`, { name: 'Eve' }, { 'if-match': '*' }), 412, 1412);
        expect((await send('GET', `${path}/a`)).body).to.deep.include({ name: 'Bob' });
        expectError(await send('GET', `${path}/b`), 404, 1404);
        expect((await send('PUT', `${path}/b`, { name: 'Eve' }, { 'if-none-match': '*' })).status).to.equal(200);
        expect((await send('DELETE', `${path}/a`, undefined, { 'if-match': second ?? '' })).status).to.equal(204);
      });

      it('every method has its form as a suffix of POST', async () => {
        await send('POST', `${path}/a!put`, { name: 'A' });
        expect((await send('POST', `${path}/a!patch`, { age: 1 })).body).to.deep.include({ name: 'A', age: 1 });
        const head = await send('POST', `${path}/a!head`);
        expect([head.status, head.text]).to.deep.equal([200, '']);
        expect((await send('POST', `${path}%21lookup`, { id: 'a' })).body).to.deep.equal(['a']);
        expect((await send('POST', `${path}!setup`, { cmd: 'optimize' })).body).to.deep.equal({ result: 'ok' });
        expect((await send('POST', `${path}/a!delete`)).status).to.equal(204);
        expect((await send('POST', `${path}!clear`)).status).to.equal(204);
        expect((await send('HEAD', path)).status).to.equal(200);
      });
    });
  }

  for (const mode of ['category', 'ram', 'runtime', 'ets', 'transactionlog']) {
    it(`numbers new entities by an increment; storage_mode ${mode}`, async () => {
      const properties = [PROPERTIES[0], { name: 'number', data_type: 'increment', unique: mode !== 'transactionlog' }];
      const path = await makeClass({ storage_mode: mode, properties, opts: {} });
      const numberOf = async (method: string, place: string, body: object): Promise<unknown> => {
        const { status, text, body: entity } = await send(method, place, body);
        expect(status, text).to.equal(200);
        return [entity].flat().map((each) => (each as { number: unknown }).number);
      };
      expect(await numberOf('POST', path, { id: 'a', name: 'A' })).to.deep.equal([1]);
      expect(await numberOf('POST', path, [{ name: 'B' }, { name: 'C' }])).to.deep.equal([2, 3]);
      expectError(await send('POST', path, { name: 'D', number: 9 }), 400, 1400, 'number');
      if (mode === 'transactionlog') return;
      expect(await numberOf('PUT', `${path}/d`, { name: 'D' })).to.deep.equal([4]);
      expect(await numberOf('PUT', `${path}/a`, { name: 'AA' })).to.deep.equal([1]);
      expect(await numberOf('PATCH', `${path}/a`, { name: 'AAA', number: 1 })).to.deep.equal([1]);
      expectError(await send('PATCH', `${path}/a`, { number: 9 }), 400, 1400, 'number');
      await send('DELETE', `${path}/d`);
      expect(await numberOf('POST', path, { name: 'E' })).to.deep.equal([5]);
      const [id] = (await send('LOOKUP', '/domain/classes', { classname: path.slice('/model/'.length) }))
        .body as string[];
      const added = { properties: [...properties, { name: 'age', data_type: 'int' }] };
      expect((await send('PATCH', `/domain/classes/${id ?? ''}`, added)).status).to.equal(200);
      expect((await send('GET', `${path}/a`)).body).to.deep.include({ number: 1, age: null });
    });
  }

  it('takes a form with the entity in data', async () => {
    const path = await makeClass();
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const data = (entity: object): string => `data=${encodeURIComponent(JSON.stringify(entity))}`;
    expect((await send('POST', path, data({ id: 'a', name: 'A' }), form)).body).to.deep.include({ id: 'a' });
    expect((await send('PATCH', `${path}/a`, data({ age: 4 }), form)).body).to.deep.include({ age: 4 });
    expect((await send('LOOKUP', path, data({ id: 'a' }), form)).body).to.deep.equal(['a']);
  });

  it('names the sections and classes below a path that ends with a slash', async () => {
    const path = await makeClass();
    const [, , section] = path.split('/');
    await send('POST', '/domain/classes', { classname: `${section}/orders/open`, storage_mode: 'ets' });
    await send('POST', '/domain/classes', { classname: `${section}/orders`, storage_mode: 'abstract' });
    expect((await send('GET', '/model/')).body).to.include(section);
    expect((await send('GET', `/model/${section}/`)).body).to.deep.equal(['customers', 'orders']);
    expect((await send('GET', `/model/${section}/orders/`)).body).to.deep.equal(['open']);
    expect((await send('GET', `${path}/`)).body).to.deep.equal([]);
    expectError(await send('GET', '/model/nowhere/'), 404, 1404);
    expectError(await send('GET', `/model/${section}/orders`), 404, 1404);
    expectError(await send('DELETE', `/model/${section}/`), 405, 1406);
    expect((await send('GET', '/')).body).to.include('model');
  });

  it('answers 405 with the allowed methods, and 404 for an unknown path', async () => {
    const path = await makeClass();
    for (const [method, place] of [
      ['PUT', path],
      ['PATCH', path],
      ['DELETE', path],
      ['OPTIONS', path],
      ['POST', `${path}/a`],
      ['LOOKUP', `${path}/a`],
      ['POST', `${path}!refer`],
    ] as const) {
      const reply = await send(method, place, method === 'DELETE' || method === 'OPTIONS' ? undefined : {});
      expectError(reply, 405, 1406);
      expect(reply.headers.get('allow'), place).to.match(/GET/);
    }
    expectError(await send('GET', '/model/nothing'), 404, 1404);
    expectError(await send('GET', `${path}/a/b/c/d`), 404, 1401);
    expectError(await send('GET', `${path}//a`), 404, 1401);
    expectError(await send('GET', `${path}/%E0%A4%A`), 400, 1400);
    expectError(await send('GET', `${path}/..%2F..%2Fdomain`), 404, 1404);
  });

  it('history: an interval is mandatory, entities are found below their day, partitions are listed and dropped', async () => {
    const path = await makeClass({
      storage_mode: 'history',
      properties: [
        { name: 'at', data_type: 'long' },
        { name: 'n', data_type: 'int' },
      ],
      opts: { partition_property: 'at' },
    });
    await send('POST', path, { id: 'a', at: '2026-10-01T10:00:00Z', n: 1 });
    await send('PUT', `${path}/2026-11-02/b`, { n: 2 });
    const list = async (interval: unknown): Promise<Reply> =>
      send('GET', `${path}?mask=id,n&interval=${encodeURIComponent(JSON.stringify(interval))}`);
    expect((await list(['2026-10-01', '2026-12-01'])).body).to.deep.equal([
      { id: 'a', n: 1 },
      { id: 'b', n: 2 },
    ]);
    expect((await list([Date.UTC(2026, 10, 1), '2026-11-03'])).body).to.deep.equal([{ id: 'b', n: 2 }]);
    expectError(await send('GET', path), 400, 1400, 'interval');
    expectError(await list(['2026-12-01', '2026-10-01']), 400, 1400, 'interval');
    expect((await send('GET', `${path}/2026-10-01/a`)).body).to.deep.equal({
      id: 'a',
      at: Date.UTC(2026, 9, 1, 10),
      n: 1,
    });
    expectError(await send('GET', `${path}/2026-10-02/a`), 404, 1404);
    expectError(await send('GET', `${path}/yesterday/a`), 400, 1400, 'date');
    expectError(await send('GET', `${path}/a`), 400, 1400, 'date');
    expect((await send('PATCH', `${path}/2026-11-02/b`, { n: 3 })).body).to.deep.include({ n: 3 });
    expect((await send('SETUP', path, { cmd: 'read_partitions' })).body).to.deep.equal(['2026-10', '2026-11']);
    expect((await send('SETUP', path, { cmd: 'drop_partition', partition: '2026-10' })).body).to.deep.equal({
      result: 'ok',
    });
    expectError(await send('SETUP', path, { cmd: 'drop_partition', partition: '2026-10' }), 404, 1404);
    expectError(await send('SETUP', path, { cmd: 'explode' }), 400, 1400, 'cmd');
    expect((await send('DELETE', `${path}/2026-11-02/b`)).status).to.equal(204);
  });

  it('history: PUT refuses a time outside the day of its path, and changes nothing', async () => {
    const path = await makeClass({ storage_mode: 'history', properties: [PROPERTIES[0]], opts: {} });
    for (const ts of ['2026-11-03T00:00:00Z', Date.UTC(2026, 10, 1)]) {
      expectError(await send('PUT', `${path}/2026-11-02/a`, { name: 'A', ts }), 400, 1400, 'ts');
    }
    expectError(await send('GET', `${path}/2026-11-02/a`), 404, 1404);
    const placed = await send('PUT', `${path}/2026-11-02/a`, { name: 'A', ts: '2026-11-02T23:59:59.999Z' });
    expect(placed.status, placed.text).to.equal(200);
    expectError(await send('PUT', `${path}/2026-11-02/a`, { name: 'B', ts: '2026-11-03' }), 400, 1400, 'ts');
    expect((await send('GET', `${path}/2026-11-02/a`)).body).to.deep.include({ name: 'A' });
  });

  it('history: several are created into their partitions, or none', async () => {
    const path = await makeClass({ storage_mode: 'history', properties: [PROPERTIES[0]], opts: {} });
    const at = (id: string, ts: string) => ({ id, name: id, ts });
    const interval = `interval=${encodeURIComponent('["2024-01-01","2027-01-01"]')}`;
    const made = await send('POST', path, [at('a', '2024-05-01'), at('b', '2025-06-01T12:00:00Z')]);
    expect(made.status, made.text).to.equal(200);
    expectError(await send('POST', path, [at('c', '2026-01-01'), at('a', '2024-05-01')]), 409, 1402, '1.id');
    expect((await send('GET', `${path}?${interval}&mask=id`)).body).to.deep.equal([{ id: 'a' }, { id: 'b' }]);
  });

  it('transactionlog only grows', async () => {
    const path = await makeClass({ storage_mode: 'transactionlog', properties: [], opts: {} });
    await send('POST', path, { id: 'a', ts: '2026-10-01' });
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const reply = await send(method, `${path}/2026-10-01/a`, method === 'DELETE' ? undefined : {});
      expectError(reply, 422, 1405, 'storage_mode');
    }
  });

  it('a class changes with its data in place, and goes with them', async () => {
    const path = await makeClass();
    await send('POST', path, { id: 'a', name: '12' });
    const { id } = ((await send('GET', '/domain/classes')).body as { id: string; classname: string }[]).find(
      ({ classname }) => path.endsWith(classname),
    ) as { id: string };
    const changed = await send('PATCH', `/domain/classes/${id}`, {
      properties: [
        { name: 'name', data_type: 'long' },
        { name: 'added', data_type: 'string', default: 'x' },
      ],
      opts: { lookup_properties: null },
    });
    expect(changed.status, changed.text).to.equal(200);
    expect((await send('GET', `${path}/a`)).body).to.deep.equal({ id: 'a', name: 12, added: 'x' });
    expectError(
      await send('PATCH', `/domain/classes/${id}`, { properties: [{ name: 'name', data_type: 'boolean' }] }),
      422,
      1405,
      'properties.name.data_type',
    );
    expect((await send('PATCH', `/domain/classes/${id}`, { classname: `${path.slice(7)}2` })).status).to.equal(200);
    expectError(await send('GET', path), 404, 1404);
    expect((await send('GET', `${path}2/a`)).status).to.equal(200);
    expect((await send('DELETE', `/domain/classes/${id}`)).status).to.equal(204);
    expectError(await send('GET', `${path}2`), 404, 1404);
  });

  describe('classes', () => {
    it('are listed, looked up, exported and posted back', async () => {
      const path = await makeClass();
      const classname = path.slice('/model/'.length);
      const ids = (await send('LOOKUP', '/domain/classes', { classname })).body as string[];
      expect(ids).to.have.length(1);
      const shown = (await send('GET', `/domain/classes/${ids[0]}`)).body as Record<string, unknown>;
      expect(shown).to.deep.include({ id: ids[0], classname, storage_mode: 'category', parent_id: null });
      const filter = encodeURIComponent(JSON.stringify({ classname }));
      const exported = (await send('GET', `/domain/classes?export=true&filter=${filter}`)).body as object[];
      expect(exported).to.have.length(1);
      await send('DELETE', `/domain/classes/${ids[0]}`);
      const none = await send('POST', '/domain/classes', []);
      expect([none.status, none.body]).to.deep.equal([200, []]);
      const again = await send('POST', '/domain/classes', exported[0]);
      expect(again.body).to.deep.include({ id: ids[0], classname, properties: shown['properties'] });
    });

    it('name their mistakes', async () => {
      for (const [field, body] of Object.entries({
        classname: { storage_mode: 'ram' },
        storage_mode: { classname: 'x1' },
        'properties.0.data_type': { classname: 'x1', storage_mode: 'ram', properties: [{ name: 'a', data_type: 'z' }] },
        'opts.max_limit': { classname: 'x1', storage_mode: 'ram', opts: { max_limit: 0 } },
        parent_id: { classname: 'x1', storage_mode: 'ram', parent_id: 'nobody' },
        extra: { classname: 'x1', storage_mode: 'ram', extra: 1 },
      })) {
        expectError(await send('POST', '/domain/classes', body), 400, 1400, field);
      }
    });

    it('with heirs cannot be removed', async () => {
      const parent = (await send('POST', '/domain/classes', { classname: `p${++classes}`, storage_mode: 'abstract' }))
        .body as { id: string };
      await send('POST', '/domain/classes', { classname: `c${classes}`, storage_mode: 'ets', parent_id: parent.id });
      expectError(await send('DELETE', `/domain/classes/${parent.id}`), 409, 1402);
    });
  });

  describe('domains', () => {
    it('do not see the classes and entities of others', async () => {
      const path = await makeClass();
      await send('POST', path, { id: 'a', name: 'A' });
      for (const [method, place, body] of [
        ['GET', path],
        ['GET', `${path}/a`],
        ['PUT', `${path}/a`, { name: 'mine' }],
        ['PATCH', `${path}/a`, { name: 'mine' }],
        ['DELETE', `${path}/a`],
        ['POST', path, { name: 'B' }],
        ['LOOKUP', path, { id: 'a' }],
        ['CLEAR', path],
        ['SETUP', path, { cmd: 'optimize' }],
      ] as const) {
        expectError(await node().as(EVE, method, place, body), 404, 1404);
      }
      const [id] = (await send('LOOKUP', '/domain/classes', { classname: path.slice(7) })).body as string[];
      for (const method of ['GET', 'PATCH', 'DELETE']) {
        const reply = await node().as(EVE, method, `/domain/classes/${id}`, method === 'PATCH' ? {} : undefined);
        expectError(reply, 404, 1404);
      }
      expect((await node().as(EVE, 'GET', '/domain/classes')).body).to.deep.equal([]);
      expect((await node().as(EVE, 'GET', '/model/')).body).to.deep.equal([]);
      const own = { classname: path.slice(7), storage_mode: 'category', domain_id: node().domainId('demo.local') };
      expectError(await node().as(EVE, 'POST', '/domain/classes', own), 403, 1401);
      expect((await send('GET', `${path}/a`)).body).to.deep.include({ name: 'A' });
    });

    it('may each have a class of the same name', async () => {
      const path = await makeClass();
      const settings = { classname: path.slice(7), storage_mode: 'category' };
      expect((await node().as(EVE, 'POST', '/domain/classes', settings)).status).to.equal(200);
      await node().as(EVE, 'POST', path, { id: 'eve' });
      expect((await send('GET', path)).body).to.deep.equal([]);
    });

    it('of the administrator include those below', async () => {
      const path = await makeClass();
      const [id] = (await send('LOOKUP', '/domain/classes', { classname: path.slice(7) })).body as string[];
      const root: Who = 'root@master';
      const changed = await node().as(root, 'PATCH', `/domain/classes/${id}`, { name: 'Customers' });
      expect(changed.body).to.deep.include({ name: 'Customers' });
    });
  });

  it('asks for a session, and for a role that allows the path and the method', async () => {
    const path = await makeClass();
    await send('POST', path, { id: 'a', name: 'A' });
    expectError(await node().call('GET', `/rest/v1${path}`), 401, 1401);
    expectError(await node().as(ALICE, 'GET', path), 403, 1401);
    const grants = [
      { path: `${path}/**`, methods: ['GET'] },
      { path, methods: ['LOOKUP'] },
    ];
    const role = await send('POST', '/iam/roles', { code: `reader${classes}`, name: 'Reader', grants });
    expect(role.status, role.text).to.equal(200);
    const [alice] = (await send('LOOKUP', '/iam/users', { login: 'alice' })).body as string[];
    await send('PATCH', `/iam/users/${alice}`, { roles: [`reader${classes}`] });
    try {
      const as = (method: string, place: string, body?: unknown) => node().as(ALICE, method, place, body);
      expect((await as('GET', path)).status).to.equal(200);
      expect((await as('GET', `${path}/a`)).status).to.equal(200);
      expect((await as('LOOKUP', path, { id: 'a' })).body).to.deep.equal(['a']);
      expect((await as('POST', `${path}!lookup`, { id: 'a' })).status).to.equal(200);
      for (const [method, place] of [
        ['POST', path],
        ['CLEAR', path],
        ['PATCH', `${path}/a`],
        ['POST', `${path}/a!patch`],
        ['POST', `${path}!clear`],
        ['DELETE', `${path}/a`],
        ['POST', `${path}%21clear`],
        ['POST', `${path}/a%21delete`],
      ] as const) {
        expectError(await as(method, place, method === 'DELETE' ? undefined : {}), 403, 1401);
      }
      expect((await as('GET', '/model/')).body).to.deep.equal([path.split('/')[2]]);
    } finally {
      await send('PATCH', `/iam/users/${alice}`, { roles: [] });
    }
  });
});
