import { expect } from 'chai';
import fc from 'fast-check';
import { sql } from 'kysely';
import { openStorage } from '../../runtime/storage/index.ts';
import { ARRAYS } from '../../runtime/storage/pglite/pglite.ts';
import { encode } from '../../runtime/storage/values.ts';
import { describeStorages, temporaryFolders, withStorage } from './support/storages.ts';

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

  it('arrays have the elements that their type has elsewhere', async () => {
    expect(await one(sql`array[1, null, -2]`)).to.deep.equal([1, null, -2]);
    expect(await one(sql`array[1.5, 2]::float8[]`)).to.deep.equal([1.5, 2]);
    expect(await one(sql`array[true, false]`)).to.deep.equal([true, false]);
    expect(await one(sql`array[array['a', 'b'], array['c', '{,}']]`)).to.deep.equal([
      ['a', 'b'],
      ['c', '{,}'],
    ]);
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

describe('array types of PGlite', () => {
  it('are those of the catalog', async function () {
    this.timeout(60_000);
    const folders = temporaryFolders();
    const storage = await openStorage({ dataDir: folders.make() });
    const elements = Object.keys(ARRAYS).map(Number);
    const { rows } = await sql<{ oid: number; typarray: number }>`
      select oid, typarray from pg_type where oid = any(${elements}::oid[])`.execute(storage.db);
    await storage.close();
    folders.removeAll();
    expect(Object.fromEntries(rows.map(({ oid, typarray }) => [oid, typarray]))).to.deep.equal({ ...ARRAYS });
  });
});

describe('values', () => {
  it('a function is refused as a parameter', () => {
    expect(() => encode(() => 1)).to.throw(TypeError, 'A function cannot be a query parameter.');
  });
});
