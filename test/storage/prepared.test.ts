import { expect } from 'chai';
import { sql } from 'kysely';
import { PreparedStatements } from '../../runtime/storage/postgres/prepared.ts';
import { describePostgres, withStorage } from './support/storages.ts';

describe('prepared statements of a connection', () => {
  it('are the repeated ones, each under its own name', () => {
    const prepared = new PreparedStatements();
    expect([1, 2, 3, 4].map(() => prepared.nameOf('a'))).to.deep.equal([undefined, undefined, 's1', 's1']);
    expect([1, 2, 3].map(() => prepared.nameOf('b'))).to.deep.equal([undefined, undefined, 's2']);
    for (let n = 0; n < 5_000; n += 1) prepared.nameOf(`once ${n}`);
    expect(prepared.isFull).to.equal(false);
    for (let n = 0; n < 600; n += 1) prepared.nameOf(`often ${n % 200}`);
    expect(prepared.isFull).to.equal(true);
  });
});

describePostgres('prepared statements', (newPlace) => {
  const storage = withStorage(newPlace, { poolSize: 1 });

  it('answer each parameter, also with more statements than a connection keeps', async () => {
    for (let n = 0; n < 10; n += 1) {
      const { rows } = await sql<{ n: number }>`select ${n}::integer + 1 as n`.execute(storage().db);
      expect(rows).to.deep.equal([{ n: n + 1 }]);
    }
    for (let n = 0; n < 660; n += 1) {
      const { rows } = await sql<{ n: number }>`select ${sql.raw(String(n % 220))}::integer as n`.execute(storage().db);
      expect(rows).to.deep.equal([{ n: n % 220 }]);
    }
    const { rows } = await sql<{
      count: number;
    }>`select count(*)::integer as count from pg_prepared_statements`.execute(storage().db);
    expect(rows[0]?.count).to.be.within(0, 200);
  });
});
