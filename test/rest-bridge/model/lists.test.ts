import { expect } from 'chai';
import type { Reply } from '../support/rest-node.ts';
import type { Who } from '../support/data-node.ts';
import { describeNodes } from '../support/data-nodes.ts';

const ADMIN: Who = 'admin@demo.local';
const PROPERTIES = [
  { name: 'name', data_type: 'string' },
  { name: 'n', data_type: 'integer' },
  { name: 'extra', data_type: 'any' },
];

describeNodes('REST: parameters of model lists', (node) => {
  let classes = 0;
  const send = (method: string, path: string, body?: unknown): Promise<Reply> => node().as(ADMIN, method, path, body);
  const get = (path: string, query: Readonly<Record<string, unknown>> = {}): Promise<Reply> => {
    const text = Object.entries(query).map(([key, value]): [string, string] => [
      key,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]);
    return send('GET', `${path}?${new URLSearchParams(text)}`);
  };

  async function makeClass(storageMode: string, settings: object = {}): Promise<string> {
    const classname = `lists${++classes}`;
    const reply = await send('POST', '/domain/classes', {
      classname,
      storage_mode: storageMode,
      properties: PROPERTIES,
      ...settings,
    });
    expect(reply.status, reply.text).to.equal(200);
    return `/model/${classname}`;
  }

  for (const mode of ['category', 'ram']) {
    it(`aggr and groupby, storage_mode ${mode}`, async () => {
      const path = await makeClass(mode);
      for (const [name, n] of [
        ['a', 1],
        ['a', 2],
        ['b', 5],
        [null, 9],
      ] as const)
        await send('POST', path, { name, n });
      const aggr = {
        sum: ['sum', ['property', 'n']],
        count: ['count'],
        'mean plus 1': ['+', ['avg', ['property', 'n']], 1],
      };
      expect((await get(path, { aggr })).body).to.deep.equal([{ sum: 17, count: 4, 'mean plus 1': 5.25 }]);
      expect(
        (await get(path, { aggr, groupby: { who: 'name' }, order: [{ sum: 'desc' }], limit: 2 })).body,
      ).to.deep.equal([
        { who: null, sum: 9, count: 1, 'mean plus 1': 10 },
        { who: 'b', sum: 5, count: 1, 'mean plus 1': 6 },
      ]);
      expect((await get(path, { groupby: { who: 'name' }, limit: 0 })).body).to.deep.equal({ count: 3 });
      expect((await get(path, { aggr: { n: ['count'] }, filter: { name: 'a' } })).body).to.deep.equal([{ n: 2 }]);
    });

    it(`max_limit and max_mask bound a list, not a single read; storage_mode ${mode}`, async () => {
      const path = await makeClass(mode, { opts: { max_limit: 2, max_mask: 'id,name' } });
      for (const id of ['a', 'b', 'c']) await send('PUT', `${path}/${id}`, { name: id, n: 1 });
      expect((await get(path, { limit: 50 })).body).to.deep.equal([
        { id: 'a', name: 'a' },
        { id: 'b', name: 'b' },
      ]);
      expect((await get(path, { mask: 'n,name', offset: 2 })).body).to.deep.equal([{ name: 'c' }]);
      expect((await get(path, { limit: 0, offset: 2 })).body).to.deep.equal({ count: 3 });
      expect((await get(`${path}/a`, { mask: 'n' })).body).to.deep.equal({ n: 1 });
      expect((await get(`${path}/a`)).body).to.deep.equal({ id: 'a', name: 'a', n: 1, extra: null });
    });

    it(`syntax errors are reported with their place; storage_mode ${mode}`, async () => {
      const path = await makeClass(mode);
      for (const [query, expected] of [
        [{ filter: ['==', ['property', 'nobody'], 1] }, { field: 'filter', path: 'filter[1]' }],
        [{ filter: ['and', ['like', ['property', 'n'], 'x']] }, { field: 'filter', path: 'filter[1][1]' }],
        [{ filter: ['explode'] }, { field: 'filter', path: 'filter[0]' }],
        [{ filter: '{"name":' }, { field: 'filter' }],
        [{ order: ['nobody'] }, { field: 'order', path: 'order[0]' }],
        [{ order: { n: 'asc' } }, { field: 'order' }],
        [{ limit: '-1' }, { field: 'limit' }],
        [{ offset: 'x' }, { field: 'offset' }],
        [{ aggr: { a: ['property', 'n'] } }, { field: 'aggr' }],
        [{ aggr: { a: 'count' } }, { field: 'aggr', path: 'aggr.a' }],
        [
          { aggr: { a: ['add', 1, ['const', 2]] }, groupby: { n: 'n' } },
          { field: 'aggr', path: 'aggr.a' },
        ],
        [{ aggr: { ['__proto__']: ['count'] } }, { field: 'aggr' }],
        [{ groupby: ['n'] }, { field: 'groupby' }],
      ] as const) {
        const reply = await get(path, query);
        expect(reply.status, JSON.stringify(query)).to.equal(400);
        expect(reply.body).to.have.property('error_code', 1400);
        expect((reply.body as { error_details: object }).error_details).to.deep.include(expected);
      }
    });
  }

  it('numbers at the ends of their range cause no internal error', async () => {
    for (const mode of ['category', 'ram']) {
      const path = await makeClass(mode, { properties: [{ name: 'x', data_type: 'float' }] });
      const entities = [5e-324, -5e-324, 1.7e308, 1.7e308].map((x, n) => ({ id: `${n}`, x }));
      expect((await send('POST', path, entities)).status).to.equal(200);
      const years = await get(path, { groupby: { y: ['year', ['property', 'x']] } });
      expect([years.status, years.body], years.text).to.deep.equal([200, [{ y: 1969 }, { y: 1970 }, { y: null }]]);
      for (const unit of ['day', 'month']) {
        const filter = ['==', ['trunc', unit, ['property', 'x']], 0];
        expect((await get(path, { filter, mask: 'id' })).body, unit).to.deep.equal([{ id: '0' }]);
      }
      for (const name of ['sum', 'avg']) {
        const reply = await get(path, { aggr: { n: [name, ['property', 'x']] } });
        expect([reply.status, (reply.body as { error_code: number }).error_code], mode).to.deep.equal([400, 1400]);
      }
    }
  });

  it('export answers entities that can be posted back', async () => {
    const path = await makeClass('history', {
      properties: [
        ...PROPERTIES,
        { name: 'number', data_type: 'increment' },
        { name: 'file', data_type: 'attachment' },
      ],
    });
    await send('POST', path, { id: 'a', name: 'A', extra: { x: { y: 1 } }, ts: '2026-11-20T10:00:00Z' });
    const query = { interval: ['2026-11-01', '2026-12-01'], export: true, flat: true };
    const exported = (await get(path, query)).body as object[];
    expect(exported).to.deep.equal([{ id: 'a', name: 'A', extra: { x: { y: 1 } }, ts: '2026-11-20T10:00:00.000Z' }]);
    await send('CLEAR', path);
    expect((await send('POST', path, exported[0])).status).to.equal(200);
    expect((await get(path, query)).body).to.deep.equal(exported);
  });

  it('PUT without put_preread replaces or places in one write', async () => {
    const path = await makeClass('category', { opts: { put_preread: false } });
    expect((await send('PUT', `${path}/a`, { name: 'A', n: 1 })).body).to.deep.include({ id: 'a', name: 'A', n: 1 });
    expect((await send('PUT', `${path}/a`, { n: 2 })).body).to.deep.include({ id: 'a', name: null, n: 2 });
    expect((await get(path, { limit: 0 })).body).to.deep.equal({ count: 1 });
  });

  describe('snapshot', () => {
    const COUNT = 3200;
    let path: string;
    before(async function () {
      this.timeout(30_000);
      path = await makeClass('ets', { opts: { max_limit: 500 } });
      const { collection } = node().model.find(node().domainId('demo.local'), [path.slice(7)]) ?? {};
      for (let n = 0; n < COUNT; n += 1) await collection?.create({ id: `e${String(n).padStart(5, '0')}`, n: n % 7 });
    });

    it('* answers the whole set in one answer, over max_limit, within limit and offset', async () => {
      const all = (await get(path, { snapshot: '*' })).body as { id: string }[];
      expect(all.map(({ id }) => id).toSorted()).to.deep.equal(
        Array.from({ length: COUNT }, (_, n) => `e${String(n).padStart(5, '0')}`),
      );
      const some = { snapshot: '*', filter: { n: '3' }, order: [{ id: 'desc' }], mask: 'id', limit: 2, offset: 1 };
      expect((await get(path, some)).body).to.deep.equal([{ id: 'e03188' }, { id: 'e03181' }]);
    });

    it('with an id is read page by page in the state of the first page', async () => {
      const ids: string[] = [];
      for (let offset = 0; ; offset += 500) {
        const page = (await get(path, { snapshot: 'mine', order: [{ n: 'asc' }], limit: 500, offset, mask: 'id,n' }))
          .body as { id: string; n: number }[];
        if (offset === 0) await send('PATCH', `${path}/${page[0]?.id}`, { n: 6 });
        ids.push(...page.map(({ id }) => id));
        if (page.length < 500) break;
      }
      expect(new Set(ids).size).to.equal(COUNT);
      const other = await get(path, { snapshot: 'mine', order: [{ n: 'desc' }], offset: 5 });
      expect([other.status, other.body]).to.deep.include(400);
      const unknown = await get(path, { snapshot: 'unknown', offset: 5 });
      expect(unknown.status).to.equal(404);
      expect(unknown.body).to.deep.include({ error_code: 1404, error_message: 'Snapshot not found' });
      const eve = await node().as('eve@other.local', 'GET', `${path}?snapshot=mine&offset=500`);
      expect(eve.status).to.equal(404);
    });
  });
});
