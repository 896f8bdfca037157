import { expect } from 'chai';
import fc from 'fast-check';
import { sql } from 'kysely';
import { encode } from '../../runtime/storage/values.ts';
import { describeStorages, withStorage } from './support/storages.ts';

describeStorages('stored values', (newPlace) => {
  const storage = withStorage(newPlace);

  async function one(expression: ReturnType<typeof sql>): Promise<unknown> {
    const { rows } = await sql<{ value: unknown }>`select ${expression} as value`.execute(storage().db);
    return rows[0]?.value;
  }

  it('int8 is read as a number where that is exact, else as a bigint', async () => {
    expect(await one(sql`9007199254740991::bigint`)).to.equal(9_007_199_254_740_991);
    expect(await one(sql`(-9007199254740993)::bigint`)).to.equal(-9_007_199_254_740_993n);
    expect(await one(sql`count(*)`)).to.equal(1);
  });

  it('numeric, date and timestamp are read as text', async () => {
    expect(await one(sql`1.50::numeric`)).to.equal('1.50');
    expect(await one(sql`date '2026-11-21'`)).to.equal('2026-11-21');
    expect(await one(sql`timestamp '2026-11-21 10:00:00'`)).to.equal('2026-11-21 10:00:00');
  });

  it('timestamptz is read as the same moment in any session time zone', async () => {
    const read = await one(sql`timestamptz '2026-11-21 10:00:00.25+05:30'`);
    expect(read).to.deep.equal(new Date('2026-11-21T04:30:00.250Z'));
  });

  it('bytes, arrays and JSON are stored unchanged', async () => {
    const bytes = new Uint8Array([0, 1, 92, 39, 255]);
    expect(await one(sql`${bytes}::bytea`)).to.deep.equal(bytes);
    expect(await one(sql`${['a', 'b"c', '\\', '', 'NULL', null]}::text[]`)).to.deep.equal([
      'a',
      'b"c',
      '\\',
      '',
      'NULL',
      null,
    ]);
    expect(await one(sql`${{ a: [1, { b: null }] }}::jsonb`)).to.deep.equal({ a: [1, { b: null }] });
    expect(await one(sql`${'[1,2]'}::jsonb`)).to.deep.equal([1, 2]);
  });

  it('booleans, dates and null are stored unchanged', async () => {
    expect(await one(sql`${true}::boolean`)).to.equal(true);
    expect(await one(sql`${null}::text`)).to.equal(null);
    const now = new Date('2026-11-21T10:38:00.123Z');
    expect(await one(sql`${now}::timestamptz`)).to.deep.equal(now);
  });

  it('any text and any JSON are stored unchanged', async () => {
    const text = fc.string({ unit: 'binary' }).filter((value) => !value.includes('\0'));
    await fc.assert(
      fc.asyncProperty(text, fc.jsonValue({ stringUnit: 'grapheme' }), async (string, json) => {
        expect(await one(sql`${string}::text`)).to.equal(string);
        const stored = await one(sql`jsonb_build_array(${JSON.stringify(json)}::jsonb)`);
        expect(stored).to.deep.equal([JSON.parse(JSON.stringify(json))]);
      }),
      { numRuns: 40, seed: 7 },
    );
  });
});

describe('values', () => {
  it('a function is refused as a parameter', () => {
    expect(() => encode(() => 1)).to.throw(TypeError, 'A function cannot be a query parameter.');
  });
});
