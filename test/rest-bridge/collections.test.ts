import { expect } from 'chai';
import { DataNode, type Who } from './support/data-node.ts';
import type { Reply } from './support/rest-node.ts';

const ADMIN: Who = 'admin@demo.local';
const EVE: Who = 'eve@other.local';
const ROOT: Who = 'root@master';

interface Entity {
  readonly id: string;
  readonly [field: string]: unknown;
}

describe('REST: domain-center collections', () => {
  let node: DataNode;
  before(async () => {
    node = await DataNode.start();
  });
  after(() => node.close());

  const make = async (path: string, body: object, who = ADMIN): Promise<Entity> => {
    const reply = await node.as(who, 'POST', path, body);
    expect(reply.status, reply.text).to.equal(200);
    return reply.body as Entity;
  };

  function expectError(reply: Reply, status: number, code: number, field?: string): void {
    expect(reply.status, reply.text).to.equal(status);
    expect(reply.body).to.have.property('error_code', code);
    if (field !== undefined) expect(reply.body).to.have.nested.property('error_details.field', field);
  }

  /** A creatable entity of each collection, a change of it, and a field with values it refuses. */
  const samples: Record<string, { body: object; change: object; field: string; bad: unknown[] }> = {
    '/domain/domains': {
      body: { name: 'sub.demo.local' },
      change: { opts: { a: 1 } },
      field: 'name',
      bad: ['', 'a b', 7],
    },
    '/domain/sipusers': {
      body: { login: 'zoe', phonenumber: '777', pwd: 'secret' },
      change: { name: 'Zoe' },
      field: 'phonenumber',
      bad: ['abc', '1;drop', 5],
    },
    '/domain/featurecodes': {
      body: { prefix: '*99', type: 'intercom' },
      change: { opts: { x: 'y' } },
      field: 'type',
      bad: ['other', null],
    },
    '/domain/routes': {
      body: { to_pattern: '9%', target: { type: 'reject', status: 403 } },
      change: { priority: 5 },
      field: 'priority',
      bad: ['high', 1.5],
    },
    '/domain/settings': {
      body: { key: 'greeting', value: 'hi' },
      change: { value: { deep: [1] } },
      field: 'value',
      bad: [null],
    },
    '/domain/webapps': {
      body: { name: 'App', url: '/app' },
      change: { order: 3 },
      field: 'url',
      bad: ['javascript:x', ''],
    },
    '/domain/providers': {
      body: { code: 'carrier', host: 'sip.carrier.example', login: '4930123', pwd: 'trunk', numbers: ['+4930123%'] },
      change: { mapping: { inbound: [{ pattern: '+49%', strip: 3, prepend: '0' }] }, enabled: false },
      field: 'host',
      bad: ['', 'a b', 7, null, 'x;y'],
    },
    '/domain/recordingrules': {
      body: { direction: 'in', number_pattern: '00%', record: false },
      change: { storage: 'archive', permit_pause: false },
      field: 'direction',
      bad: ['sideways', null, 1],
    },
    '/domain/ivrscripts': {
      body: { code: 'hello', scriptdata: { format: 'js', source: 'export default async () => 1' } },
      change: { scriptdata: { format: 'js', source: 'export default async () => 2' } },
      field: 'scriptdata.format',
      bad: [],
    },
    '/domain/svcscripts': {
      body: { code: 'hook', scriptdata: { format: 'ts', source: 'export default async () => 1' } },
      change: { name: 'Hook' },
      field: 'code',
      bad: ['', 'a/b', null],
    },
    '/iam/users': {
      body: { login: 'zoe', pwd: 'secret' },
      change: { tags: ['a'] },
      field: 'login',
      bad: ['', 'a/b', null],
    },
    '/iam/roles': {
      body: { code: 'reader', grants: [{ path: '/uc/**', methods: ['GET'] }] },
      change: { name: 'Reads' },
      field: 'grants.0.path',
      bad: [],
    },
  };

  for (const [path, { body, change, field, bad }] of Object.entries(samples)) {
    describe(path, () => {
      it('creates, lists, reads, changes and deletes, by methods and by suffixes', async () => {
        const made = await make(path, body);
        expect(made.id).to.match(/^[0-9a-f-]{36}$/);
        for (const secret of ['pwd', 'secret', 'password', 'ha1_md5', 'ha1_sha256'])
          expect(made).not.to.have.property(secret);
        const list = (await node.as(ADMIN, 'GET', path)).body as Entity[];
        expect(list.find(({ id }) => id === made.id)).to.deep.equal(made);
        expect((await node.as(ADMIN, 'GET', `${path}/${made.id}`)).body).to.deep.equal(made);
        const changed = await node.as(ADMIN, 'PATCH', `${path}/${made.id}`, change);
        expect(changed.status, changed.text).to.equal(200);
        expect(changed.body).to.deep.include(change);
        expect((await node.as(ADMIN, 'POST', `${path}/${made.id}!patch`, change)).body).to.deep.include(change);
        const data = `data=${encodeURIComponent(JSON.stringify(change))}`;
        const form = { 'content-type': 'application/x-www-form-urlencoded' };
        expect((await node.as(ADMIN, 'PATCH', `${path}/${made.id}`, data, form)).body).to.deep.include(change);
        const stale = { 'if-match': '"stale"' };
        const etag = (await node.as(ADMIN, 'GET', `${path}/${made.id}`)).headers.get('etag') ?? '';
        expectError(await node.as(ADMIN, 'PATCH', `${path}/${made.id}`, change, stale), 412, 1412, 'if-match');
        expectError(await node.as(ADMIN, 'DELETE', `${path}/${made.id}`, undefined, stale), 412, 1412, 'if-match');
        const unchanged = await node.as(ADMIN, 'PATCH', `${path}/${made.id}`, {}, { 'if-match': etag });
        expect(unchanged.status, unchanged.text).to.equal(200);
        const deleted = await node.as(ADMIN, 'DELETE', `${path}/${made.id}`);
        expect([deleted.status, deleted.text]).to.deep.equal([204, '']);
        for (const method of ['GET', 'DELETE', 'PATCH']) {
          const gone = await node.as(ADMIN, method, `${path}/${made.id}`, method === 'PATCH' ? {} : undefined);
          expect(gone.status, method).to.equal(404);
          expect(gone.body).to.have.property('error_code', 1404);
        }
      });

      it('keeps a given id, which is unique and cannot change; PUT is not offered', async () => {
        const id = `own-${path.split('/').at(-1)}`;
        const made = await make(path, { ...body, id });
        expect(made.id).to.equal(id);
        const again = await node.as(ADMIN, 'POST', path, { ...body, id });
        expect([again.status, again.body]).to.satisfy(
          ([status, error]: [number, { error_code: number }]) => status === 409 && error.error_code === 1402,
        );
        const renamed = await node.as(ADMIN, 'PATCH', `${path}/${id}`, { id: 'other' });
        expect(renamed.status).to.equal(400);
        expect(renamed.body).to.have.nested.property('error_details.field', 'id');
        const put = await node.as(ADMIN, 'PUT', `${path}/${id}`, body);
        expect(put.status).to.equal(405);
        expect(put.body).to.have.property('error_code', 1406);
        expect((await node.as(ADMIN, 'DELETE', `${path}/${id}`)).status).to.equal(204);
      });

      it('names the field of a bad value', async () => {
        for (const value of bad) {
          const reply = await node.as(ADMIN, 'POST', path, { ...body, [field]: value });
          expect(reply.status, JSON.stringify(value)).to.equal(400);
          expect(reply.body).to.have.property('error_code', 1400);
          expect(reply.body).to.have.nested.property('error_details.field', field);
        }
        const unknown = await node.as(ADMIN, 'POST', path, { ...body, nonsense: 1 });
        expect(unknown.body).to.have.nested.property('error_details.field', 'nonsense');
        for (const odd of [[7], 'text', 7, true]) {
          expect((await node.as(ADMIN, 'POST', path, JSON.stringify(odd))).status, JSON.stringify(odd)).to.equal(400);
        }
        expect((await node.as(ADMIN, 'POST', path, 'null')).status).to.equal(400);
        expect((await node.as(ADMIN, 'POST', path)).status).to.equal(400);
        expect((await node.as(ADMIN, 'POST', path, [])).body).to.deep.equal([]);
      });

      it('is hidden from foreign domains, and needs a role', async () => {
        const made = await make(path, body);
        for (const [method, target, content] of [
          ['GET', `${path}/${made.id}`],
          ['PATCH', `${path}/${made.id}`, change],
          ['DELETE', `${path}/${made.id}`],
          ['POST', `${path}/${made.id}!patch`, change],
          ['POST', `${path}/${made.id}!delete`],
          ['LOOKUP', path, { id: made.id }],
        ] as const) {
          const reply = await node.as(EVE, method, target, content);
          expect([reply.status, reply.body], `${method} ${target}`).to.deep.include(404);
          expect(reply.body).to.have.property('error_code', 1404);
          expect((await node.as('bob@demo.local', method, target, content)).status).to.equal(403);
        }
        const seen = (await node.as(EVE, 'GET', path)).body as Entity[];
        expect(seen.map(({ id }) => id)).not.to.include(made.id);
        expect((await node.as('bob@demo.local', 'GET', path)).status).to.equal(403);
        expect((await node.call('GET', `/rest/v1${path}/${made.id}`)).status).to.equal(401);
        expect((await node.as(ROOT, 'GET', `${path}/${made.id}`)).status).to.equal(200);
        if (path !== '/domain/domains') {
          const domain_id = node.domainId('demo.local');
          expect((await node.as(EVE, 'POST', path, { ...body, domain_id })).status).to.equal(403);
          const away = { domain_id: node.domainId('other.local'), ...('pwd' in body && { pwd: 'x' }) };
          expect((await node.as(ADMIN, 'PATCH', `${path}/${made.id}`, away)).status).to.equal(403);
        }
        expect((await node.as(ADMIN, 'DELETE', `${path}/${made.id}`)).status).to.equal(204);
      });

      it('stores or refuses unusual text, and survives', async () => {
        const odd = ["'; drop table users; --", '$1', '%s', '\\', '{"a":1}', '\u{1F600}', '../../etc', '<b>'];
        const made = await make(path, { ...body, id: 'odd' });
        for (const text of odd) {
          const reply = await node.as(ADMIN, 'PATCH', `${path}/odd`, { ext: { [text]: text } });
          expect(reply.status, text).to.equal(200);
          expect((reply.body as { ext: object }).ext).to.have.property(text);
          expect((await node.as(ADMIN, 'GET', `${path}/${encodeURIComponent(text)}`)).status).to.equal(404);
          expect((await node.as(ADMIN, 'POST', path, { ...body, id: text })).status).to.be.oneOf([400, 409]);
          const order = encodeURIComponent(JSON.stringify([text]));
          expect(
            (await node.as(ADMIN, 'GET', `${path}?order=${order}&mask=${encodeURIComponent(text)}`)).status,
          ).to.be.oneOf([200, 400]);
          expect((await node.as(ADMIN, 'POST', path, { ...body, id: 'x', [text]: 1 })).status).to.be.oneOf([400, 409]);
        }
        for (const ext of [
          '{"a":"\\u0000"}',
          '{"\\u0000":1}',
          '{"a":"\\ud800"}',
          '{"a":1e999}',
          `{"a":${'['.repeat(400)}${']'.repeat(400)}}`,
        ]) {
          const reply = await node.as(ADMIN, 'PATCH', `${path}/odd`, `{"ext":${ext}}`);
          expect(reply.status, ext.slice(0, 20)).to.equal(400);
          expect(reply.body).to.have.property('error_code', 1400);
        }
        expect((await node.as(ADMIN, 'PATCH', `${path}/odd`, '{"__proto__":{"x":1}}')).status).to.equal(400);
        expect((await node.as(ADMIN, 'GET', `${path}/a%00b`)).status).to.equal(404);
        expect((await node.as(ADMIN, 'DELETE', `${path}/${made.id}`)).status).to.equal(204);
      });
    });
  }

  describe('lists', () => {
    const list = async (query: string) => node.as(ADMIN, 'GET', `/domain/sipusers?${query}`);

    it('order, page, mask and flatten', async () => {
      const order = encodeURIComponent('[{"login":"desc"}]');
      expect((await list(`order=${order}&mask=login&limit=2&offset=1`)).body).to.deep.equal([
        { login: 'carol' },
        { login: 'bob' },
      ]);
      const expression = encodeURIComponent('[["asc",["property","phonenumber"]]]');
      expect((await list(`order=${expression}&mask=phonenumber&limit=1`)).body).to.deep.equal([{ phonenumber: '101' }]);
      const [flat] = (await list('flat=true&limit=1')).body as Entity[];
      expect(flat).to.include.keys('ext.ct', 'ext.lwt').and.not.to.have.property('ext');
      const [masked] = (await list('mask=login,ext.ct&limit=1')).body as { ext: object }[];
      expect(masked).to.have.all.keys('login', 'ext');
      expect(masked?.ext).to.have.all.keys('ct');
      expect((await list('offset=100')).body).to.deep.equal([]);
    });

    it('count', async () => {
      expect((await list('limit=0')).body).to.deep.equal({ count: 4 });
      expect((await list('countonly=1&offset=3')).body).to.deep.equal({ count: 4 });
    });

    it('export entities that can be posted back', async () => {
      const exported = (await node.as(ADMIN, 'GET', '/domain/featurecodes?export=true&flat=true')).body as Entity[];
      expect(exported).to.have.length(3);
      for (const entity of exported) {
        expect(entity['ext']).to.deep.equal({});
        expect((await node.as(ADMIN, 'DELETE', `/domain/featurecodes/${entity.id}`)).status).to.equal(204);
        expect(await make('/domain/featurecodes', entity)).to.deep.include({ id: entity.id, prefix: entity['prefix'] });
      }
    });

    it('refuse invalid parameters', async () => {
      for (const query of ['limit=x', 'limit=-1', 'offset=a', 'order=login', 'order={}', 'flat=maybe']) {
        expect((await list(query)).status, query).to.equal(400);
      }
    });
  });

  it('merge composite fields by first-level keys; null and "null" remove one', async () => {
    const { id } = await make('/domain/domains', { name: 'merge.local', opts: { a: 1, b: { c: 2 }, d: 3 } });
    const patch = await node.as(ADMIN, 'PATCH', `/domain/domains/${id}`, {
      opts: { a: null, b: { e: 5 }, d: 'null', f: 6 },
    });
    expect((patch.body as Entity)['opts']).to.deep.equal({ b: { e: 5 }, f: 6 });
    expect((await node.as(ADMIN, 'DELETE', `/domain/domains/${id}`)).status).to.equal(204);
  });

  it('take four content types for POST, and two for PATCH', async () => {
    const post = (type: string, content: string, path = '/domain/domains', method = 'POST') =>
      node.as(ADMIN, method, path, content, { 'content-type': type });
    const part = (name: string, content: string) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${content}\r\n--b--\r\n`;
    const multi = 'multipart/form-data; boundary=b';
    const ids: string[] = [];
    for (const [type, content] of [
      ['application/json', '{"name":"t1.local"}'],
      ['application/x-www-form-urlencoded', `data=${encodeURIComponent('{"name":"t2.local"}')}`],
      [multi, part('data', '{"name":"t3.local"}')],
      ['application/octet-stream', '{"name":"t4.local"}'],
    ] as const) {
      const reply = await post(type, content);
      expect(reply.status, `${type}: ${reply.text}`).to.equal(200);
      ids.push((reply.body as Entity).id);
    }
    expect((await post(multi, part('data', '{"name":"t3.local"}'), '/domain/domains!lookup')).body).to.deep.equal([
      ids[2],
    ]);
    for (const [type, content] of [
      [multi, part('other', '{}')],
      [multi, part('data', '{"name":')],
      [multi, part('data', '{"__proto__":{"x":1}}')],
      [multi, '--b\r\nContent-Disposition: form-data; name="data"; filename="x"\r\n\r\nx\r\n--b--\r\n'],
      [multi, '--b\r\nbroken'],
      ['multipart/form-data', 'x'],
      ['application/octet-stream', 'x'],
      ['application/octet-stream', ''],
    ] as const) {
      const reply = await post(type, content);
      expect(reply.status, `${content}: ${reply.text}`).to.be.oneOf([400, 413]);
    }
    expect((await post(multi, part('data', 'x'.repeat(1_100_000)))).status).to.equal(413);
    const one = `/domain/domains/${ids[0]}`;
    for (const type of [multi, 'application/octet-stream', 'text/plain']) {
      expect((await post(type, part('data', '{}'), one, 'PATCH')).status, type).to.equal(415);
    }
    for (const id of ids) expect((await node.as(ADMIN, 'DELETE', `/domain/domains/${id}`)).status).to.equal(204);
  });

  it('an assigned role cannot be removed or renamed', async () => {
    const role = await make('/iam/roles', { code: 'clerk' });
    const user = await make('/iam/users', { login: 'clara', roles: ['clerk'] });
    const refused = await node.as(ADMIN, 'DELETE', `/iam/roles/${role.id}`);
    expectError(refused, 409, 1402);
    expect(refused.text).to.contain('user clara');
    expectError(await node.as(ADMIN, 'PATCH', `/iam/roles/${role.id}`, { code: 'agent' }), 400, 1400, 'code');
    expect((await node.as(ADMIN, 'PATCH', `/iam/roles/${role.id}`, { name: 'Clerks' })).status).to.equal(200);
    await node.as(ADMIN, 'PATCH', `/iam/users/${user.id}`, { roles: [] });
    expect((await node.as(ADMIN, 'DELETE', `/iam/roles/${role.id}`)).status).to.equal(204);
    await node.as(ADMIN, 'DELETE', `/iam/users/${user.id}`);
  });

  it('a route to an unknown scenario is refused', async () => {
    const route = { to_pattern: '77', target: { type: 'scenario', code: 'later' } };
    expectError(await node.as(ADMIN, 'POST', '/domain/routes', route), 400, 1400, 'target.code');
    const scriptdata = { format: 'js', source: 'export default async () => 1' };
    const script = await make('/domain/ivrscripts', { code: 'later', scriptdata });
    const { id } = await make('/domain/routes', route);
    const change = { target: { type: 'scenario', code: 'never' } };
    expectError(await node.as(ADMIN, 'PATCH', `/domain/routes/${id}`, change), 400, 1400, 'target.code');
    expect((await node.as(ADMIN, 'PATCH', `/domain/routes/${id}`, { priority: 5 })).status).to.equal(200);
    for (const path of [`/domain/routes/${id}`, `/domain/ivrscripts/${script.id}`])
      expect((await node.as(ADMIN, 'DELETE', path)).status).to.equal(204);
  });

  it('take an export back as it is', async () => {
    for (const [path, { body }] of Object.entries(samples)) {
      const ids = ['copy-1', 'copy-2'];
      const key = ['prefix', 'code', 'key', 'login', 'name'].find((name) => name in body);
      for (const [index, id] of ids.entries()) {
        const own = {
          id,
          ...(key !== undefined && { [key]: key === 'prefix' ? `*9${index}1` : `copy${index}.local` }),
        };
        await make(path, { ...body, ...own, ...('phonenumber' in body && { phonenumber: `77${index}` }) });
      }
      const filter = encodeURIComponent('{"id":"copy-%"}');
      const exported = await node.as(ADMIN, 'GET', `${path}?export=true&filter=${filter}`);
      expect(exported.status, exported.text).to.equal(200);
      expect(exported.body).to.have.length(2);
      const again = await node.as(ADMIN, 'POST', path, exported.body);
      expect([again.status, again.body], path).to.deep.include(409);
      expect(again.body)
        .to.have.nested.property('error_details.field')
        .match(/^[01]\./);
      for (const id of ids) expect((await node.as(ADMIN, 'DELETE', `${path}/${id}`)).status).to.equal(204);
      const back = await node.as(ADMIN, 'POST', path, exported.body);
      expect(back.status, `${path}: ${back.text}`).to.equal(200);
      expect((back.body as Entity[]).map(({ id }) => id)).to.deep.equal(ids);
      expect((await node.as(ADMIN, 'GET', `${path}?export=true&filter=${filter}`)).body).to.deep.equal(exported.body);
      for (const id of ids) expect((await node.as(ADMIN, 'DELETE', `${path}/${id}`)).status).to.equal(204);
    }
  });

  it('look up by the unique keys', async () => {
    const [alice] = (await node.iam.collections.users.list()).filter(({ login }) => login === 'alice');
    expect((await node.as(ADMIN, 'LOOKUP', '/iam/users', { login: 'alice' })).body).to.deep.equal([alice?.id]);
    expect((await node.as(ADMIN, 'POST', '/iam/users!lookup', { login: 'alice' })).body).to.deep.equal([alice?.id]);
    expect((await node.as(ADMIN, 'LOOKUP', '/domain/sipusers', { phonenumber: '102' })).body).to.have.length(1);
    expect((await node.as(ADMIN, 'LOOKUP', '/iam/users', { login: 'nobody' })).status).to.equal(404);
    for (const body of [{}, { name: 'Alice' }, { login: 7 }, { login: null }]) {
      expect((await node.as(ADMIN, 'LOOKUP', '/iam/users', body)).status, JSON.stringify(body)).to.equal(400);
    }
  });

  it('check references', async () => {
    const dangling = await node.as(ADMIN, 'POST', '/domain/sipusers', { login: 'ref', pwd: 'x', user_id: 'nobody' });
    expect(dangling.status).to.equal(400);
    expect(dangling.body).to.have.nested.property('error_details.field', 'user_id');
    const eve = (await node.iam.collections.users.list()).find(({ login }) => login === 'eve');
    const foreign = await node.as(ADMIN, 'POST', '/domain/sipusers', { login: 'ref', pwd: 'x', user_id: eve?.id });
    expect(foreign.body).to.deep.equal(dangling.body);
    const inUse = await node.as(ROOT, 'DELETE', `/domain/domains/${node.domainId('demo.local')}`);
    expect(inUse.status).to.equal(409);
    expect(inUse.body).to.have.property('error_code', 1402);
    const duplicate = await node.as(ADMIN, 'POST', '/domain/sipusers', { login: 'alice', pwd: 'x' });
    expect(duplicate.status).to.equal(409);
    expect(duplicate.body).to.have.nested.property('error_details.field', 'login');
  });

  it('keep every session within its domains', async () => {
    const [demo, master, other] = ['demo.local', 'master', 'other.local'].map((name) => node.domainId(name));
    const child = await make('/domain/domains', { name: 'child.local' });
    expect(child['parent_id']).to.equal(demo);
    const user = await make('/iam/users', { domain_id: child.id, login: 'kid', pwd: 'demo-kid', domains: [demo] });
    for (const [method, path, body] of [
      ['PATCH', `/domain/domains/${child.id}`, { parent_id: other }],
      ['PATCH', `/domain/domains/${child.id}`, { parent_id: null }],
      ['PATCH', `/domain/domains/${demo}`, { parent_id: child.id }],
      ['PATCH', `/domain/domains/${demo}`, { parent_id: null }],
      ['POST', '/domain/domains', { name: 'x.local', parent_id: master }],
      ['POST', '/domain/domains', { name: 'x.local', is_master: true }],
      ['PATCH', `/domain/domains/${child.id}`, { is_master: true }],
      ['PATCH', `/iam/users/${user.id}`, { domains: [demo, master] }],
      ['POST', '/iam/users', { login: 'spy', pwd: 'x', domains: [other] }],
    ] as const) {
      const reply = await node.as(ADMIN, method, path, body);
      expect(reply.status, `${method} ${path} ${JSON.stringify(body)}`).to.equal(403);
      expect(reply.body).to.have.property('error_code', 1401);
    }
    const loop = await node.as(ROOT, 'PATCH', `/domain/domains/${demo}`, { parent_id: child.id });
    expect(loop.status).to.equal(400);
    expect(loop.body).to.have.nested.property('error_details.field', 'parent_id');
    expect((await node.as(ADMIN, 'GET', `/iam/users/${user.id}`)).status).to.equal(200);
    expect((await node.as(ADMIN, 'DELETE', `/iam/users/${user.id}`)).status).to.equal(204);
    expect((await node.as(ADMIN, 'DELETE', `/domain/domains/${child.id}`)).status).to.equal(204);
  });

  it('let only an administrator make one', async () => {
    const { users, roles } = node.iam.collections;
    const domain_id = node.domainId('demo.local');
    await roles.create({ domain_id, code: 'staff', grants: [{ path: '/iam/**', methods: ['*'] }] });
    await users.create({ domain_id, login: 'sam', pwd: 'demo-sam', roles: ['staff'] });
    const admin = (await users.list()).find(({ login }) => login === 'admin');
    const sam = (await users.list()).find(({ login }) => login === 'sam');
    for (const [method, path, body] of [
      ['POST', '/iam/users', { login: 'new', pwd: 'x', roles: ['admin'] }],
      ['PATCH', `/iam/users/${sam?.id}`, { roles: ['staff', 'admin'] }],
      ['PATCH', `/iam/users/${admin?.id}`, { pwd: 'mine' }],
      ['DELETE', `/iam/users/${admin?.id}`, undefined],
      ['POST', '/iam/roles', { code: 'all', grants: [{ path: '/**', methods: ['*'] }] }],
    ] as const) {
      expect((await node.as('sam@demo.local', method, path, body)).status, `${method} ${path}`).to.equal(403);
    }
    expect((await node.as('sam@demo.local', 'POST', '/iam/users', { login: 'new', pwd: 'x' })).status).to.equal(200);
  });

  it('list the names below a section on a trailing slash', async () => {
    expect((await node.as(ADMIN, 'GET', '/domain/')).body).to.deep.equal([
      'classes',
      'domains',
      'featurecodes',
      'ivrscripts',
      'prompts',
      'providers',
      'recordingrules',
      'recordings',
      'registrations',
      'routes',
      'settings',
      'sipusers',
      'svcscripts',
      'voicemessages',
      'webapps',
      'webhooks',
    ]);
    expect((await node.as(ADMIN, 'GET', '/')).body).to.include.members(['domain', 'iam', 'uc', 'user', 'api']);
    expect((await node.as(ADMIN, 'GET', '/iam/')).body).to.deep.equal(['roles', 'sessions', 'users']);
    expect((await node.as(ADMIN, 'GET', '/nothing/')).status).to.equal(404);
    expect((await node.call('GET', '/rest/v1/domain/')).status).to.equal(401);
  });

  it('a changed password and a removed user end all sessions', async () => {
    const made = await make('/iam/users', { login: 'tmp', pwd: 'demo-tmp' });
    const token = await node.login('tmp@demo.local');
    expect((await node.as(ADMIN, 'DELETE', `/iam/users/${made.id}`)).status).to.equal(204);
    const reply = await node.call('GET', '/rest/v1/user/info', { headers: { authorization: `Bearer ${token}` } });
    expect(reply.status).to.equal(401);
  });

  it('log no internal error', () => {
    expect(node.log).to.deep.equal([]);
  });

  describe('a value that a field does not take', () => {
    const DIAL = { to_pattern: '9' };
    const cases: readonly (readonly [path: string, body: object, field: string, reason: string])[] = [
      [
        'providers',
        { code: 't', host: 'h.example', register: 'outbond' },
        'register',
        'must be one of "none", "outbound", "inbound"',
      ],
      [
        'providers',
        { code: 't', host: 'h.example', transport: 'sctp' },
        'transport',
        'must be one of "udp", "tcp", "tls", "sips"',
      ],
      [
        'featurecodes',
        { prefix: '*9', type: 'x' },
        'type',
        'must be one of "intercom", "conference", "ivr", "pickup", "clir"',
      ],
      ['recordingrules', { direction: 'x' }, 'direction', 'must be one of "any", "in", "out"'],
      [
        'ivrscripts',
        { code: 'x', scriptdata: { format: 'py', source: '' } },
        'scriptdata.format',
        'must be one of "yaml", "js", "ts"',
      ],
      [
        'routes',
        { ...DIAL, target: { type: 'x' } },
        'target.type',
        'must be one of "scenario", "provider", "domain", "reject"',
      ],
      ['routes', { ...DIAL, target: {} }, 'target.type', 'is required'],
      ['routes', { ...DIAL, target: { type: 'domain' } }, 'target.domain', 'is required'],
      ['routes', { ...DIAL, target: { type: 'domain', domian: 'x' } }, 'target.domain', 'is required'],
      [
        'routes',
        { ...DIAL, target: { type: 'reject', status: 99 } },
        'target.status',
        'must be at least 400 and at most 699, not 99',
      ],
      ['routes', { ...DIAL, target: 'voicemail' }, 'target', 'must be object'],
      ['sipusers', { login: 'q', user_id: 5 }, 'user_id', 'must be string or null'],
      ['settings', { key: 'k', value: null }, 'value', 'must be string or number or boolean or array or object'],
    ];
    for (const [path, body, field, reason] of cases)
      it(`${path} ${JSON.stringify(body)}: ${field} ${reason}`, async () => {
        const reply = await node.as(ADMIN, 'POST', `/domain/${path}`, body);
        expectError(reply, 400, 1400, field);
        expect(reply.body).to.have.nested.property('error_details.reason', reason);
      });
  });
});
