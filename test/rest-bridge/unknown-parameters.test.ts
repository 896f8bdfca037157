import { expect } from 'chai';
import { DataNode } from './support/data-node.ts';

const ADMIN = 'admin@demo.local';

interface Operation {
  readonly requestBody?: { readonly content: { readonly 'application/json'?: { readonly schema: Schema } } };
}
interface Schema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly additionalProperties?: unknown;
}
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

describe('REST: unknown parameters and fields', () => {
  let node: DataNode;
  let paths: Paths;
  before(async () => {
    node = await DataNode.start();
    const created = await node.as(ADMIN, 'POST', '/domain/classes', {
      classname: 'shop',
      storage_mode: 'category',
      properties: [
        { name: 'visits', data_type: 'integer' },
        { name: 'tags', data_type: 'string', multi: true },
      ],
    });
    expect(created.status, created.text).to.equal(200);
    paths = ((await node.as(ADMIN, 'GET', '/openapi.json')).body as { paths: Paths }).paths;
  });
  after(() => node.close());

  const refused = async (method: string, path: string, body: unknown, field: string, meant?: string) => {
    const reply = await node.as(ADMIN, method, path, body);
    expect(reply.status, `${method} ${path}: ${reply.text}`).to.equal(400);
    const reason = meant === undefined ? 'is not known' : `is not known; did you mean '${meant}'?`;
    expect(reply.body, `${method} ${path}`).to.deep.include({ error_code: 1400, error_details: { field, reason } });
  };

  /** Every operation of the document; those that are not asked here take anything. */
  function* operations(): Generator<readonly [method: string, path: string, operation: Operation]> {
    for (const [path, item] of Object.entries(paths)) {
      if (path.startsWith('/api/hooks/') || path.includes('{class_path}')) continue;
      const real = path
        .replaceAll('{number}', '1')
        .replaceAll('{date}', '2026-11-21')
        .replaceAll(/\{\w+\}/g, 'x');
      for (const [method, operation] of Object.entries(item)) yield [method.toUpperCase(), real, operation];
    }
  }

  it('in the query are answered 400/1400 at every endpoint, without an effect', async function () {
    this.timeout(120_000);
    let asked = 0;
    for (const [method, path, { requestBody }] of operations()) {
      const body = requestBody?.content['application/json'] === undefined ? undefined : {};
      const reply = await node.as(ADMIN, method, `${path}?zzzz=1`, body);
      expect(reply.status, `${method} ${path}: ${reply.text}`).to.equal(400);
      asked += 1;
    }
    expect(asked).to.be.above(100);
    expect((await node.as(ADMIN, 'GET', '/iam/sessions/current')).status).to.equal(200);
  });

  it('in the body are answered 400/1400 at every endpoint, also where no body is needed', async function () {
    this.timeout(120_000);
    for (const [method, path, { requestBody }] of operations()) {
      const schema = requestBody?.content['application/json']?.schema;
      if (method === 'GET' || (requestBody !== undefined && schema === undefined)) continue;
      const reply = await node.as(ADMIN, method, path, { zzzz: 1 });
      // Whether an entity is there is asked first.
      if (reply.status === 404 && schema?.additionalProperties !== false && path.endsWith('/x')) continue;
      expect(reply.status, `${method} ${path}: ${reply.text}`).to.equal(400);
    }
    expect((await node.as(ADMIN, 'GET', '/iam/sessions/current')).status).to.equal(200);
  });

  it('beside the JSON of a form are answered 400/1400', async () => {
    const part = (name: string, text: string): string =>
      `--xx\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
    const forms = (json: string, other: string) =>
      [
        ['application/x-www-form-urlencoded', `data=${encodeURIComponent(json)}&${other}=1`],
        ['multipart/form-data; boundary=xx', `${part('data', json)}${part(other, '1')}--xx--\r\n`],
      ] as const;
    for (const path of ['/model/shop', '/domain/settings']) {
      const json = path === '/model/shop' ? '{}' : '{"key":"form","value":1}';
      for (const [type, body] of [...forms(json, 'dat'), ...forms(json, 'visits')]) {
        const reply = await node.as(ADMIN, 'POST', path, body, { 'content-type': type });
        expect(reply.status, `${path} ${type}: ${reply.text}`).to.equal(400);
        const field = body.includes('visits') ? 'visits' : 'dat';
        const reason = field === 'dat' ? "is not known; did you mean 'data'?" : 'is not known';
        expect(reply.body).to.deep.include({ error_details: { field, reason } });
      }
      expect((await node.as(ADMIN, 'GET', path)).body, path).to.deep.equal([]);
    }
  });

  it('are answered with the nearest name', async () => {
    await refused('GET', '/domain/sipusers?fitler=%7B%7D', undefined, 'fitler', 'filter');
    await refused('GET', '/uc/calls?count_only=1', undefined, 'count_only', 'countonly');
    await refused('GET', '/model/shop?agr=1', undefined, 'agr', 'aggr');
    await refused('PATCH', '/model/shop/x?apend=true', { tags: ['a'] }, 'apend', 'append');
    await refused('POST', '/iam/sessions', { session_typ: 'token' }, 'session_typ', 'session_type');
    await refused('POST', '/domain/sipusers', { logn: 'a' }, 'logn', 'login');
    await refused('POST', '/model/shop', { visit: 1 }, 'visit', 'visits');
    await refused(
      'SETUP',
      '/model/shop',
      { cmd: 'resume_notification', sendreload: false },
      'sendreload',
      'send_reload',
    );
    await refused('INVITE', '/uc/calls', { from: '101', to: '102', responsemode: 4 }, 'responsemode', 'response_mode');
    await refused('GET', '/api/events?event=callevents', undefined, 'event', 'events');
    await refused('POST', '/domain/classes', { clasname: 'a' }, 'clasname', 'classname');
  });

  it('do not include fields of the specification', async () => {
    const lists = ['/uc/calls', '/user/sip/calls', '/uc/conferences', '/uc/conferences_by_participation'];
    const all = 'filter={}&order=[]&mask=id&offset=0&limit=9&flat=true&countonly=false&export=true';
    const collections = [
      '/domain/sipusers',
      '/iam/users',
      '/iam/roles',
      '/domain/classes',
      '/domain/recordings',
      '/model/shop',
    ];
    const user = ((await node.as(ADMIN, 'LOOKUP', '/iam/users', { login: 'alice' })).body as string[])[0] ?? '';
    for (const path of [...lists, ...collections, `/iam/users/${user}/sessions`]) {
      const reply = await node.as(ADMIN, 'GET', `${path}?${encodeURI(all)}`);
      expect([reply.status, reply.body], path).to.deep.equal([200, Array.isArray(reply.body) ? reply.body : []]);
    }
    const model = encodeURI(
      'interval=["2026-01-01","2026-02-01"]&aggr={"n":["count"]}&groupby={"v":"visits"}&snapshot=s1',
    );
    expect((await node.as(ADMIN, 'GET', `/model/shop?${model}`)).status).to.equal(200);
    expect((await node.as(ADMIN, 'GET', `/iam/users/${user}?mask=id&flat=true`)).body).to.deep.equal({ id: user });
    expect((await node.as(ADMIN, 'GET', '/user/avatar?attachment=true')).status).to.equal(404);
    expect((await node.as(ADMIN, 'DELETE', '/uc/calls/x?dry_run=true')).status).to.equal(404);
    const stored = await node.as(ADMIN, 'PATCH', `/iam/users/${user}`, {
      opts: { anything: { at: 'all' } },
      ext: { x: 1 },
    });
    expect(stored.status).to.equal(200);
  });

  it('may name masked fields that do not exist', async () => {
    expect((await node.as(ADMIN, 'GET', '/uc/calls?mask=nothing,callid')).status).to.equal(200);
  });
});
