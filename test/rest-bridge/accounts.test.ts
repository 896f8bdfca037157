import { once } from 'node:events';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { DataNode } from './support/data-node.ts';
import type { Reply } from './support/rest-node.ts';

const ADMIN = 'admin@demo.local';
const DEMO = 'demo.local';
const DAY = 86_400_000;

describe('REST: accounts', () => {
  let node: DataNode;
  before(async () => {
    node = await DataNode.start();
  });
  after(() => node.close());

  const session = async (login: string, pwd: string): Promise<Reply> =>
    node.call('POST', '/rest/v1/iam/sessions', { body: { domain: DEMO, login, pwd, session_type: 'token' } });
  const tokenOf = async (login: string, pwd = `demo-${login}`): Promise<string> => {
    const { body } = await session(login, pwd);
    return (body as { session_token: string }).session_token;
  };
  const by = (token: string, method: string, path: string, body?: unknown) =>
    node.call(method, `/rest/v1${path}`, {
      headers: { authorization: `Bearer ${token}` },
      ...(body !== undefined && { body }),
    });
  const statusOf = async (token: string) => (await by(token, 'GET', '/iam/sessions/current')).status;
  const idOf = async (login: string) =>
    ((await node.as(ADMIN, 'LOOKUP', '/iam/users', { login })).body as string[])[0] ?? '';
  const newUser = async (login: string) => {
    const created = await node.as(ADMIN, 'POST', '/iam/users', { login, pwd: `demo-${login}` });
    expect(created.status, created.text).to.equal(200);
    return (created.body as { id: string }).id;
  };

  it('a password that an administrator changes ends all sessions of the user', async () => {
    const id = await newUser('erin');
    const [first, second] = [await tokenOf('erin'), await tokenOf('erin')];
    expect((await node.as(ADMIN, 'PATCH', `/iam/users/${id}`, { name: 'Erin' })).status).to.equal(200);
    expect([await statusOf(first), await statusOf(second)]).to.deep.equal([200, 200]);
    expect((await node.as(ADMIN, 'PATCH', `/iam/users/${id}`, { pwd: 'other' })).status).to.equal(200);
    expect([await statusOf(first), await statusOf(second)]).to.deep.equal([401, 401]);
    expect((await session('erin', 'demo-erin')).status).to.equal(401);
    expect((await session('erin', 'other')).status).to.equal(200);
  });

  it('users change their own password with the old one, and their other sessions end', async () => {
    await newUser('frank');
    const [own, other] = [await tokenOf('frank'), await tokenOf('frank')];
    const wrong = await by(own, 'PUT', '/user/password', { old_pwd: 'guess', pwd: 'better' });
    expect([wrong.status, wrong.body]).to.deep.equal([
      403,
      {
        error_code: 1401,
        error_message: 'Access forbidden',
        error_details: { field: 'old_pwd', reason: 'is not the present password' },
      },
    ]);
    expect((await by(own, 'PUT', '/user/password', { pwd: 'better' })).status).to.equal(400);
    expect((await by(own, 'PUT', '/user/password', { old_pwd: 'demo-frank', pwd: '' })).status).to.equal(400);
    expect(await statusOf(other)).to.equal(200);
    const socket = new WebSocket(`ws://127.0.0.1:${node.port}/ws`, { headers: { authorization: `Bearer ${other}` } });
    await once(socket, 'open');
    const closed = once(socket, 'close');
    expect((await by(own, 'PUT', '/user/password', { old_pwd: 'demo-frank', pwd: 'better' })).status).to.equal(204);
    expect((await closed)[0]).to.equal(4401);
    expect([await statusOf(own), await statusOf(other)]).to.deep.equal([200, 401]);
    expect([(await session('frank', 'demo-frank')).status, (await session('frank', 'better')).status]).to.deep.equal([
      401, 200,
    ]);
  });

  it('users see and end only their own sessions', async () => {
    await newUser('grace');
    const tokens = [await tokenOf('grace'), await tokenOf('grace'), await tokenOf('grace')];
    const [own = '', second = '', third = ''] = tokens;
    const foreign = (await node.as(ADMIN, 'GET', '/user/sessions')).body as { id: string }[];
    const { body } = await by(own, 'GET', '/user/sessions?order=["created"]');
    const sessions = body as { id: string; current: boolean; session_type: string; created: number; expires: number }[];
    expect(sessions.map(({ session_type: type }) => type)).to.deep.equal(['token', 'token', 'token']);
    expect(sessions.filter(({ current }) => current)).to.have.lengthOf(1);
    for (const { created, expires } of sessions) expect(expires - created).to.equal(DAY);
    const { id = '' } =
      ((await by(second, 'GET', '/user/sessions?filter={"current":true}')).body as { id: string }[])[0] ?? {};
    expect((await by(own, 'GET', `/user/sessions/${id}?mask=id`)).body).to.deep.equal({ id });
    expect((await by(own, 'DELETE', `/user/sessions/${id}`)).status).to.equal(204);
    expect([await statusOf(own), await statusOf(second), await statusOf(third)]).to.deep.equal([200, 401, 200]);
    expect((await by(own, 'DELETE', `/user/sessions/${foreign[0]?.id}`)).status).to.equal(404);
    expect((await by(own, 'DELETE', '/user/sessions')).status).to.equal(204);
    expect([await statusOf(own), await statusOf(third)]).to.deep.equal([200, 401]);
  });

  it('locking a user ends all sessions, and later logins are answered like a wrong password', async () => {
    const id = await newUser('heidi');
    const token = await tokenOf('heidi');
    const locked = await node.as(ADMIN, 'PATCH', `/iam/users/${id}`, { locked: true });
    expect([locked.status, locked.body]).to.deep.include.members([200]);
    expect(locked.body).to.include({ locked: true });
    expect(await statusOf(token)).to.equal(401);
    const refused = await session('heidi', 'demo-heidi');
    const wrong = await session('heidi', 'wrong');
    expect([refused.status, refused.body]).to.deep.equal([wrong.status, wrong.body]);
    expect((await node.as(ADMIN, 'PATCH', `/iam/users/${id}`, { locked: false })).status).to.equal(200);
    expect(await statusOf(token)).to.equal(401);
    expect((await session('heidi', 'demo-heidi')).status).to.equal(200);
  });

  it('an administrator cannot lock the account of the session', async () => {
    const reply = await node.as(ADMIN, 'PATCH', `/iam/users/${await idOf('admin')}`, { locked: true });
    expect([reply.status, (reply.body as { error_code: number }).error_code]).to.deep.equal([422, 1405]);
    expect((await node.as(ADMIN, 'GET', '/user/info')).status).to.equal(200);
  });
});
