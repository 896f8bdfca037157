import { expect } from 'chai';
import { sql } from '../../runtime/storage/sql.ts';
import { filters, type ModelCollection } from '../../runtime/model/index.ts';
import { describeStorages, withStorage } from '../storage/support/storages.ts';
import { DOMAIN, emptyModel, removeClasses, type TestModel } from './support/model.ts';

describeStorages('indexes on request', (newPlace) => {
  const storage = withStorage(newPlace);
  let test: TestModel;

  beforeEach(async () => {
    test = await emptyModel(storage());
  });
  afterEach(async () => {
    await test.model.close();
    await removeClasses(storage());
  });

  const definitions = async (): Promise<readonly string[]> => {
    const { rows } = await sql<{ indexdef: string }>`
      select indexdef from pg_indexes where schemaname = 'model' and indexname not like '%pkey' order by indexname`.execute(
      storage().db,
    );
    return rows.map(({ indexdef }) => indexdef.replace(/^.* USING /, ''));
  };

  const make = (): Promise<ModelCollection> =>
    test.collection({
      classname: 'c',
      properties: [
        { name: 'plain', data_type: 'int', index: true },
        { name: 'code', data_type: 'string', unique: true },
        { name: 'key', data_type: 'string' },
        { name: 'tags', data_type: 'string', multi: true, index: 'list' },
        { name: 'pair', data_type: 'string', index: ['pair', 'plain'] },
      ],
      opts: { lookup_properties: ['key'] },
    });

  it('are created, changed and removed with the class', async () => {
    const c = await make();
    expect(await definitions()).to.deep.equal([
      'btree (p_1, id)',
      'btree (p_3, id)',
      'gin (p_4)',
      'btree (p_5, p_1, id)',
      'btree (p_2)',
    ]);
    await test.model.classes(DOMAIN).update(c.definition.id, { opts: { lookup_properties: [] } });
    expect(await definitions()).to.have.length(4);
    await test.model.classes(DOMAIN).update(c.definition.id, { properties: [{ name: 'plain', data_type: 'int' }] });
    expect(await definitions()).to.deep.equal([]);
  });

  it('for wildcards find text in the middle', async () => {
    const c = await test.collection({
      classname: 'w',
      properties: [{ name: 't', data_type: 'string', index: 'wildcard' }],
    });
    await c.create({ id: 'x', t: 'an inner text' });
    expect(await c.list({ filter: { t: '%inner%' }, mask: 'id' })).to.deep.equal([{ id: 'x' }]);
  });

  it('serve filter conditions', async () => {
    await make();
    const { rows } = await sql<{
      name: string;
    }>`select relname as name from pg_class where relname like 'c\\_%' and relkind = 'r'`.execute(storage().db);
    const table = sql.id('model', rows[0]?.name ?? '');
    await sql`insert into ${table} (id, p_1, p_2, p_5) select n::text, n % 5000, n::text, 'x' || n from generate_series(1, 20000) n`.execute(
      storage().db,
    );
    await sql`analyze ${table}`.execute(storage().db);
    const conditions = [
      ['=', ['prop', 'plain'], 7],
      ['between', ['prop', 'plain'], 7, 9],
      ['in', ['prop', 'code'], ['list', '7', '8']],
      ['like', ['prop', 'pair'], 'x199%'],
      ['and', ['>=', ['prop', 'plain'], 4990], ['!=', ['prop', 'key'], 'k']],
    ];
    const { SqlCompiler } = filters;
    const columns = new Map(
      [
        ['plain', 'number', 1],
        ['code', 'text', 2],
        ['key', 'text', 3],
        ['pair', 'text', 5],
      ].map(([name, type, number]) => [
        name as string,
        { type: type as 'text' | 'number', isInteger: type === 'number', sql: sql.id(`p_${number}`) },
      ]),
    );
    for (const filter of conditions) {
      const parser = new filters.ExpressionParser({
        fields: new Map([...columns].map(([name, { type }]) => [name, type])),
        now: 0,
      });
      const condition = new SqlCompiler(columns).condition(filters.parseFilter(parser, filter));
      const plan = await sql<{ 'QUERY PLAN': string }>`explain select id from ${table} where ${condition}`.execute(
        storage().db,
      );
      const text = plan.rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(text, JSON.stringify(filter)).to.include('Index').and.not.include('Seq Scan');
    }
  });
});
