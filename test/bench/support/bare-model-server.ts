/**
 * The floor of the benchmark `model`: Fastify and pg alone, on the same table. Arguments: HTTP port, database
 * URL, table, and the columns of name, state, age and note.
 */
import { randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import { Pool, types } from 'pg';

const [port, databaseUrl, table, name, state, age, note] = process.argv.slice(2);
types.setTypeParser(types.builtins.INT8, Number);
const pool = new Pool({ connectionString: databaseUrl, max: 10 });
const columns = `id, ${name} as name, ${state} as state, ${age} as age, ${note} as note`;
const http = Fastify();

http.get('/healthz', () => ({}));
http.get<{ Querystring: { state: string; age: string } }>('/list', async ({ query }) => {
  const text = `select ${columns} from ${table} where ${state} = $1 and ${age} >= $2 order by ${age}, id limit 20`;
  return (await pool.query(text, [query.state, query.age])).rows;
});
http.get<{ Params: { id: string } }>('/read/:id', async ({ params }) => {
  return (await pool.query(`select ${columns} from ${table} where id = $1`, [params.id])).rows[0] as object;
});
http.get<{ Querystring: { age: string } }>('/aggregate', async ({ query }) => {
  const text = `select ${state} as state, count(*) as n from ${table} where ${age} = $1 group by 1 order by 1`;
  return (await pool.query(text, [query.age])).rows;
});
http.post<{ Body: Record<string, unknown> }>('/insert', async ({ body }) => {
  const text = `insert into ${table} (id, ${name}, ${state}, ${age}, ${note}) values ($1, $2, $3, $4, $5) returning ${columns}`;
  return (await pool.query(text, [randomUUID(), body['name'], body['state'], body['age'], body['note']]))
    .rows[0] as object;
});
await http.listen({ host: '127.0.0.1', port: Number(port) });

process.once('SIGTERM', () => {
  void (async () => {
    await http.close();
    await pool.end();
    process.exit(0);
  })();
});
