import { expect } from 'chai';
import { Random } from '../../model/support/random.ts';
import type { Who } from '../support/data-node.ts';
import { describeNodes } from '../support/data-nodes.ts';
import {
  flattened,
  masked,
  PROPERTIES,
  randomFilter,
  randomMask,
  randomOrder,
  randomRow,
  type Row,
  sorted,
} from './reference.ts';

const ADMIN: Who = 'admin@demo.local';
const ROWS = 60;
const LISTS = Number(process.env['RINGMASTER_FUZZ_LISTS'] ?? 80);
const SEED = Number(process.env['RINGMASTER_FUZZ_SEED'] ?? 20_261_121);

describeNodes('REST: lists answer what a plain reference answers', (node) => {
  for (const mode of ['category', 'ram']) {
    it(`storage_mode ${mode}, ${LISTS} random lists, seed ${SEED}`, async function () {
      this.timeout(60_000);
      const random = new Random(SEED);
      const classname = `fuzz-${mode}`;
      await node().as(ADMIN, 'POST', '/domain/classes', { classname, storage_mode: mode, properties: PROPERTIES });
      const rows: Row[] = [];
      for (let n = 0; n < ROWS; n += 1) {
        const row = randomRow(random, `r${random.below(1000)}-${n}`);
        const { status, text } = await node().as(ADMIN, 'POST', `/model/${classname}`, row);
        expect(status, text).to.equal(200);
        rows.push(row);
      }
      let found = 0;
      for (let n = 0; n < LISTS; n += 1) {
        const filter = randomFilter(random);
        const order = randomOrder(random);
        const mask = randomMask(random);
        const offset = random.chance(0.4) ? undefined : random.pick([0, 3, 100]);
        const limit = random.chance(0.4) ? undefined : random.pick([1, 5, 1000]);
        const flat = random.chance(0.2);
        const query = new URLSearchParams({
          ...(filter !== undefined && { filter: JSON.stringify(filter.json) }),
          ...(order.length > 0 && { order: JSON.stringify(order.map(({ json }) => json)) }),
          ...(mask !== undefined && { mask }),
          ...(offset !== undefined && { offset: String(offset) }),
          ...(limit !== undefined && { limit: String(limit) }),
          ...(flat && { flat: 'true' }),
        });
        const kept = sorted(
          rows.filter((row) => filter?.holds(row) ?? true),
          order,
        );
        found += kept.length;
        const page = kept.slice(offset ?? 0, (offset ?? 0) + (limit ?? 1000)).map((row) => masked(row, mask));
        const what = `list ${n}: ${decodeURIComponent(String(query))}`;
        const answer = await node().as(ADMIN, 'GET', `/model/${classname}?${query}`);
        expect(answer.status, `${what} ${answer.text}`).to.equal(200);
        expect(answer.body, what).to.deep.equal(flat ? page.map((row) => flattened(row)) : page);
        query.set(
          ...random.pick<[string, string]>([
            ['limit', '0'],
            ['countonly', 'true'],
          ]),
        );
        const count = await node().as(ADMIN, 'GET', `/model/${classname}?${query}`);
        expect(count.body, what).to.deep.equal({ count: kept.length });
      }
      // A filter that never holds would prove nothing.
      expect(found).to.be.greaterThan(LISTS * 3);
    });
  }
});
