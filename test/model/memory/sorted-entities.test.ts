/** Order, ranges and views against a plain array. Seeded: a failure shows its seed. */
import { expect } from 'chai';
import { compareValues } from '../../../runtime/model/filter/index.ts';
import { compareText } from '../../../runtime/model/filter/values.ts';
import { SortedEntities, type ValueRange } from '../../../runtime/model/memory/sorted-entities.ts';
import type { Entity } from '../../../runtime/model/fields.ts';
import { Random } from '../support/random.ts';

const SEED = Number(process.env['RINGMASTER_FUZZ_SEED'] ?? 20_261_121);

describe('entities in order', () => {
  const compare = (property: string, descending: boolean) => (a: Entity, b: Entity) =>
    compareValues(a[property], b[property]) * (descending ? -1 : 1) || compareText(a.id, b.id);
  const inRange = (value: unknown, { low, high }: ValueRange): boolean => {
    if (low === undefined && high === undefined) return true;
    if (value === null) return false;
    const [from, to] = [low && compareValues(value, low.value), high && compareValues(value, high.value)];
    return (
      (from === undefined || from > 0 || (from === 0 && low?.inclusive === true)) &&
      (to === undefined || to < 0 || (to === 0 && high?.inclusive === true))
    );
  };

  for (const { what, values } of [
    { what: 'numbers of which many are equal', values: [null, -1, 0, 1, 2, 3, 1e9] },
    { what: 'numbers', values: Array.from({ length: 5000 }, (_, n) => n / 4) },
    { what: 'texts', values: ['', 'a', 'b', 'ä', '\uffee', '😀', null] },
    { what: 'equal values', values: [true] },
  ]) {
    it(`${what}: ranges, counts, both directions, and unchanged views (seed ${SEED})`, () => {
      const random = new Random(SEED);
      const list = new SortedEntities('v');
      const there = new Map<string, Entity>();
      const views: { view: ReturnType<SortedEntities['view']>; there: readonly Entity[] }[] = [];
      const check = ({ view, there: then }: (typeof views)[number]): void => {
        const end = () =>
          random.chance(0.3)
            ? undefined
            : { value: random.pick(values.filter((v) => v !== null)), inclusive: random.chance(0.5) };
        const range = { low: end(), high: end() };
        const descending = random.chance(0.5);
        const found = [...view.batches(range, descending)].flat().map(({ id }) => id);
        const wanted = then.filter((entity) => inRange(entity['v'], range)).toSorted(compare('v', descending));
        expect(found, JSON.stringify({ range, descending })).to.deep.equal(wanted.map(({ id }) => id));
        expect(view.count(range)).to.equal(wanted.length);
      };
      for (let step = 0; step < 6000; step += 1) {
        const id = `e${random.below(3000)}`;
        const known = there.get(id);
        if (known !== undefined) list.remove(known);
        there.delete(id);
        if (known === undefined || random.chance(0.6)) {
          const entity = { id, v: random.pick<unknown>(values) };
          list.add(entity);
          there.set(id, entity);
        }
        if (step % 400 !== 0) continue;
        views.push({ view: list.view(), there: [...there.values()] });
        check(random.pick(views));
      }
      for (const view of views) check(view);
      for (const entity of there.values()) list.remove(entity);
      expect([...list.view().batches()]).to.deep.equal([]);
      expect(list.view().count({ low: { value: 1, inclusive: true } })).to.equal(0);
      for (const view of views) check(view);
    });
  }
});
