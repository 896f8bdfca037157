import { expect } from 'chai';
import { sql as kysely } from 'kysely';
import { sql } from '../../runtime/storage/sql.ts';
import { describeStorages, withStorage } from './support/storages.ts';

describe('SQL as fragments', () => {
  it('passes each value as a parameter, in order, at any depth', () => {
    const condition = sql`${sql.id('a')} = ${1} and (${sql.join([sql`b = ${'x'}`, sql`c is ${null}`], sql` or `)})`;
    const statement = sql`select ${sql.join([sql.id('s', 'a"b'), sql.raw('1'), 2])} where ${condition} limit ${sql.number(3)}`;
    expect(statement.statement()).to.deep.equal({
      text: 'select "s"."a""b", 1, $1 where "a" = $2 and (b = $3 or c is $4) limit 3',
      values: [2, 1, 'x', null],
    });
  });

  it('repeats a fragment that is used twice', () => {
    const twice = sql`${1}`;
    expect(sql`${twice} ${twice}`.statement()).to.deep.equal({ text: '$1 $2', values: [1, 1] });
  });

  it('refuses a text for a number', () => {
    for (const wrong of [Number.NaN, Infinity, '1; drop table x' as unknown as number])
      expect(() => sql.number(wrong)).to.throw(TypeError);
  });
});

describeStorages('SQL as fragments, run', (newPlace) => {
  const storage = withStorage(newPlace);

  it('alone, and within kysely statements', async () => {
    const value = sql`${'x'}::text`;
    expect((await sql`select ${value} as a, ${2}::integer as b`.execute(storage().db)).rows).to.deep.equal([
      { a: 'x', b: 2 },
    ]);
    expect((await kysely`select ${value} as a, ${2}::integer as b`.execute(storage().db)).rows).to.deep.equal([
      { a: 'x', b: 2 },
    ]);
  });
});
