import { expect } from 'chai';
import { DataNode, type Who } from './support/data-node.ts';

const ADMIN = 'admin@demo.local';
const TODAY = encodeURI(JSON.stringify([new Date(Date.now() - 86_400_000), new Date(Date.now() + 86_400_000)]));

interface Entry {
  readonly id: string;
  readonly ts: number;
  readonly login: string;
  readonly method: string;
  readonly path: string;
  readonly ids: readonly string[];
  readonly fields: readonly string[];
}

describe('REST: the audit log', () => {
  let node: DataNode;
  before(async () => {
    node = await DataNode.start();
  });
  after(() => node.close());

  const done = async (who: Who, method: string, path: string, body?: unknown) => {
    const reply = await node.as(who, method, path, body);
    expect(reply.status, `${method} ${path}: ${reply.text}`).to.be.below(300);
    return reply.body as { id: string };
  };
  const entries = async (who: Who = ADMIN): Promise<readonly Entry[]> => {
    const { status, text, body } = await node.as(who, 'GET', `/model/audit?interval=${TODAY}&order=["ts"]`);
    expect(status, text).to.equal(200);
    return body as Entry[];
  };
  const added = async (who: Who, act: () => Promise<unknown>): Promise<readonly Entry[]> => {
    const before = new Set((await entries(who)).map(({ id }) => id));
    await act();
    return (await entries(who)).filter(({ id }) => !before.has(id));
  };

  it('is empty at first, and not listed among the classes of the domain', async () => {
    expect(await entries()).to.deep.equal([]);
    expect((await node.as(ADMIN, 'GET', '/domain/classes')).body).to.deep.equal([]);
  });

  it('has the user, field, time and address of a change, but no values', async () => {
    let id = '';
    const from = Date.now();
    const told = await added(ADMIN, async () => {
      ({ id } = await done(ADMIN, 'POST', '/domain/sipusers', { login: 'x1', phonenumber: '901', pwd: 'top-secret' }));
      await done(ADMIN, 'PATCH', `/domain/sipusers/${id}`, { name: 'X', opts: { room: 'hidden', floor: null } });
      await done(ADMIN, 'DELETE', `/domain/sipusers/${id}`);
    });
    expect(told.map(({ id: _id, ts: _ts, ...entry }) => entry)).to.deep.equal(
      [
        { method: 'POST', path: '/domain/sipusers', ids: [id], fields: ['login', 'phonenumber', 'pwd'] },
        { method: 'PATCH', path: `/domain/sipusers/${id}`, ids: [id], fields: ['name', 'opts.room', 'opts.floor'] },
        { method: 'DELETE', path: `/domain/sipusers/${id}`, ids: [id], fields: [] },
      ].map((entry) => ({
        login: 'admin',
        user_id: (told[0] as unknown as { user_id: string }).user_id,
        domain: 'demo.local',
        address: '127.0.0.1',
        count: 1,
        ...entry,
      })),
    );
    for (const { ts } of told) expect(ts).to.be.within(from, Date.now());
    expect(JSON.stringify(told)).not.to.match(/top-secret|hidden/);
  });

  it('has changes of users, roles, classes and own accounts', async () => {
    const told = await added(ADMIN, async () => {
      await done(ADMIN, 'POST', '/iam/roles', [{ code: 'r1' }, { code: 'r2' }]);
      const { id } = await done(ADMIN, 'POST', '/domain/classes', {
        classname: 'shop',
        storage_mode: 'category',
        properties: [{ name: 'n', data_type: 'integer' }],
      });
      await done(ADMIN, 'POST', '/model/shop', { n: 1 });
      await done(ADMIN, 'CLEAR', '/model/shop');
      await done(ADMIN, 'DELETE', `/domain/classes/${id}`);
      const change = { old_pwd: 'demo-alice', pwd: 'demo-alice' };
      await done('alice@demo.local', 'PUT', '/user/password', change);
    });
    expect(
      told.map(({ login, method, path }) => `${login} ${method} ${path.replace(/[0-9a-f-]{36}$/, 'ID')}`),
    ).to.deep.equal([
      'admin POST /iam/roles',
      'admin POST /domain/classes',
      'admin CLEAR /model/shop',
      'admin DELETE /domain/classes/ID',
      'alice PUT /user/password',
    ]);
    expect(told[0]?.ids).to.have.lengthOf(2);
  });

  it('has no dry runs, which change nothing', async () => {
    const told = await added(ADMIN, async () => {
      const body = { login: 'dry', phonenumber: '977', pwd: 'secret' };
      await done(ADMIN, 'POST', '/domain/sipusers?dry_run=true', body);
      expect((await node.as(ADMIN, 'LOOKUP', '/domain/sipusers', { login: 'dry' })).status).to.equal(404);
      await done(ADMIN, 'POST', '/domain/sipusers?dry_run=true', [body]);
      const unknown = await node.as(ADMIN, 'PATCH', '/domain/sipusers?dry_run=true', [{ id: 'nothing', name: 'x' }]);
      expect(unknown.status).to.equal(404);
    });
    expect(told).to.deep.equal([]);
  });

  it('has no reads and no refused changes', async () => {
    const told = await added(ADMIN, async () => {
      await node.as(ADMIN, 'GET', '/domain/sipusers');
      await node.as(ADMIN, 'LOOKUP', '/iam/users', { login: 'bob' });
      expect((await node.as(ADMIN, 'POST', '/domain/sipusers', { login: '' })).status).to.equal(400);
      expect((await node.as('bob@demo.local', 'POST', '/domain/sipusers', { login: 'y' })).status).to.equal(403);
    });
    expect(told).to.deep.equal([]);
  });

  it('has an entry in both domains for a change by an administrator of another one', async () => {
    const { id } = await done(ADMIN, 'POST', '/domain/featurecodes', { prefix: '*91', type: 'intercom' });
    const told = await added(ADMIN, async () => {
      await done('root@master', 'PATCH', `/domain/featurecodes/${id}`, { opts: { a: 1 } });
      await done('root@master', 'DELETE', `/domain/featurecodes/${id}`);
    });
    expect(told.map(({ login, method }) => `${login} ${method}`)).to.deep.equal(['root PATCH', 'root DELETE']);
    expect((await entries('root@master')).map(({ method }) => method)).to.deep.equal(['PATCH', 'DELETE']);
    expect(await entries('eve@other.local')).to.deep.equal([]);
  });

  it('continues after a domain is renamed', async () => {
    const id = node.domainId('other.local');
    await done('eve@other.local', 'PATCH', `/domain/domains/${id}`, { name: 'renamed.local' });
    await done('root@master', 'PATCH', `/domain/domains/${id}`, { name: 'other.local' });
    expect((await entries('eve@other.local')).map(({ path, fields }) => [path, ...fields])).to.deep.equal([
      [`/domain/domains/${id}`, 'name'],
    ]);
  });

  it('needs a role for reading, and cannot be written', async () => {
    const [first] = await entries();
    const date = new Date(first?.ts ?? 0).toISOString().slice(0, 10);
    const one = `/model/audit/${date}/${first?.id}`;
    expect((await node.as(ADMIN, 'GET', one)).status).to.equal(200);
    expect((await node.as('bob@demo.local', 'GET', `/model/audit?interval=${TODAY}`)).status).to.equal(403);
    for (const [method, path, body] of [
      ['POST', '/model/audit', { login: 'bob' }],
      ['PUT', one, { login: 'bob' }],
      ['PATCH', one, { login: 'bob' }],
      ['DELETE', one, undefined],
      ['CLEAR', '/model/audit', undefined],
      ['SETUP', '/model/audit', { cmd: 'drop_partition', partition: date.slice(0, 7) }],
      ['POST', '/domain/classes', { classname: 'audit', storage_mode: 'category' }],
    ] as const) {
      const reply = await node.as(ADMIN, method, path, body);
      expect(reply.status, `${method} ${path}: ${reply.text}`).to.equal(422);
    }
    expect((await entries())[0]).to.deep.equal(first);
  });
});
