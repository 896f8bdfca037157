import { expect } from 'chai';
import type { Who } from '../support/data-node.ts';
import { describeNodes } from '../support/data-nodes.ts';

const ADMIN: Who = 'admin@demo.local';
/** More than one set. */
const COUNT = 3_000;
const ANY = { text: 'x', list: [1, 'two', null], deep: { yes: true } };

describeNodes('REST: a long list of entities', (node) => {
  const send = (method: string, path: string, body?: unknown) => node().as(ADMIN, method, path, body);

  for (const mode of ['category', 'history', 'ram', 'ets']) {
    it(`is created as a whole or not at all; storage_mode ${mode}`, async function () {
      this.timeout(60_000);
      const hasTable = mode === 'category' || mode === 'history';
      const properties = [
        { name: 'name', data_type: 'string' },
        { name: 'ratio', data_type: 'float', default: 0.5 },
        { name: 'big', data_type: 'long' },
        { name: 'on', data_type: 'boolean' },
        { name: 'tags', data_type: 'string', multi: true },
        { name: 'json', data_type: 'any' },
        ...(hasTable ? [{ name: 'number', data_type: 'increment' }] : []),
      ];
      const classname = `long-${mode}`;
      expect((await send('POST', '/domain/classes', { classname, storage_mode: mode, properties })).status).to.equal(
        200,
      );
      const path = `/model/${classname}`;
      const interval = `interval=${encodeURIComponent('["2026-11-23","2026-11-24"]')}`;
      const ts = mode === 'history' ? { ts: '2026-11-23T12:00:00Z' } : {};
      const list = Array.from({ length: COUNT }, (_, n) => ({
        id: `e${String(n).padStart(4, '0')}`,
        name: n % 2 === 0 ? `"quoted" \\ {${n}} ünï` : null,
        big: Number.MAX_SAFE_INTEGER - n,
        on: n % 3 === 0,
        tags: n % 2 === 0 ? ['a,b', '"c"', '{}', 'null'] : [],
        json: [ANY, 'text', 7, ['a'], false][n % 5],
        ...ts,
      }));
      const count = async (): Promise<unknown> => (await send('GET', `${path}?limit=0&${interval}`)).body;

      expect((await send('POST', path, { id: 'e2999', ...ts })).status).to.equal(200);
      const refused = await send('POST', path, list);
      expect(refused.status, refused.text).to.equal(409);
      expect(refused.body).to.have.nested.property('error_details.field', '2999.id');
      expect(await count()).to.deep.equal({ count: 1 });
      await send('CLEAR', path);

      const made = await send('POST', path, list);
      expect(made.status, made.text.slice(0, 500)).to.equal(200);
      expect(await count()).to.deep.equal({ count: COUNT });
      const answered = made.body as { id: string; number?: number }[];
      const page = (await send('GET', `${path}?limit=1000&offset=2000&order=["id"]&${interval}`)).body as object[];
      for (const [index, entity] of page.entries()) {
        const { ts: _ts, ...given } = { ts: '', ...list[index + 2000] };
        expect(entity).to.deep.include({ ...given, ratio: 0.5 });
        expect(entity).to.deep.equal(answered[index + 2000]);
      }
      if (hasTable) {
        const numbers = answered.map(({ number }) => Number(number));
        expect(numbers).to.deep.equal(Array.from({ length: COUNT }, (_, n) => (numbers[0] ?? 0) + n));
      }
    });
  }

  let run = 0;
  it('lets others read: from memory, and on PostgreSQL from tables too', async function () {
    this.timeout(120_000);
    // A busy machine may keep one read for long.
    this.retries(2);
    const classes = node().storage.kind === 'pglite' ? ['ets'] : ['ets', 'category'];
    run += 1;
    for (const mode of classes) {
      const [listed, read] = [`listed-${mode}-${run}`, `read-${mode}-${run}`];
      const properties = [{ name: 'name', data_type: 'string', index: true }];
      for (const [classname, storage_mode] of Object.entries({ [listed]: 'category', [read]: mode })) {
        const made = await send('POST', '/domain/classes', { classname, storage_mode, properties });
        expect(made.status, made.text).to.equal(200);
      }
      expect((await send('POST', `/model/${read}`, { id: 'one', name: 'One' })).status).to.equal(200);

      const started = performance.now();
      const list = Array.from({ length: 10_000 }, (_, n) => ({ id: `e${n}`, name: `Customer ${n}` }));
      let isAnswered = false;
      const answer = send('POST', `/model/${listed}`, list).finally(() => {
        isAnswered = true;
      });
      let longest = 0;
      while (!isAnswered) {
        const sent = performance.now();
        expect((await send('GET', `/model/${read}/one`)).status).to.equal(200);
        longest = Math.max(longest, performance.now() - sent);
      }
      const reply = await answer;
      expect(reply.status, reply.text.slice(0, 500)).to.equal(200);
      expect(longest, `longest read, ${mode}`).to.be.below((performance.now() - started) / 2);
    }
  });
});
