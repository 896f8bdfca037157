import { expect } from 'chai';
import { type ConfirmedUser, TokenScenarioError } from '../../runtime/iam/index.ts';
import { DataNode } from './support/data-node.ts';

const SESSIONS = '/rest/v1/iam/sessions';
const CURRENT = '/iam/sessions/current';

describe('REST: session data, domains and sessions of users', () => {
  let node: DataNode;
  const asked: [code: string, token: string][] = [];
  let confirmed: ConfirmedUser | TokenScenarioError | undefined;

  before(async () => {
    node = await DataNode.start({
      confirmToken: async (code, token) => {
        asked.push([code, token]);
        if (confirmed instanceof TokenScenarioError) throw confirmed;
        return confirmed;
      },
    });
  });
  after(() => node.close());

  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  it('answers the session data object with tags, reachable domains and web applications', async () => {
    const { webapps } = node.directory.collections;
    const domain_id = node.domainId('demo.local');
    await webapps.create({ domain_id, name: 'Second', order: 2, url: '/second', ext: { color: 'red' } });
    await webapps.create({ domain_id, name: 'First', description: 'For all', order: 1, url: 'https://x.test/' });
    await node.iam.collections.roles.create({ domain_id, code: 'operator' });
    await webapps.create({ domain_id, name: 'Hidden', url: '/hidden', roles: ['operator'] });
    await webapps.create({ domain_id: node.domainId('other.local'), name: 'Foreign', url: '/foreign' });
    const alice = (await node.iam.collections.users.list()).find(({ login }) => login === 'alice');
    await node.iam.collections.users.update(alice?.id ?? '', { tags: ['vip'] });
    const { status, body } = await node.as('alice@demo.local', 'GET', CURRENT);
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      domain: 'demo.local',
      domain_is_master: false,
      domains: [{ domain: 'demo.local', is_master: false }],
      login: 'alice',
      name: 'Alice',
      name_login: 'Alice (alice)',
      roles: ['user'],
      solution: 'standard',
      tags: ['vip'],
      user_id: alice?.id,
      webapps: [
        { name: 'First', description: 'For all', order: 1, icon: '', 'fa-icon': '', roles: [], url: 'https://x.test/' },
        { name: 'Second', description: '', order: 2, icon: '', 'fa-icon': '', roles: [], url: '/second', color: 'red' },
      ],
    });
  });

  it('changes to a reachable domain and back, and answers the data of the changed session', async () => {
    const headers = bearer(await node.login('admin@demo.local'));
    const patch = (domain: unknown) => node.call('PATCH', `/rest/v1${CURRENT}`, { body: { domain }, headers });
    const changed = await patch('MASTER');
    expect(changed.status).to.equal(200);
    expect(changed.body).to.deep.include({ domain: 'master', domain_is_master: true, solution: 'master' });
    expect((await node.call('GET', `/rest/v1${CURRENT}`, { headers })).body).to.deep.equal(changed.body);
    const suffixed = await node.call('POST', `/rest/v1${CURRENT}!patch`, { body: { domain: 'demo.local' }, headers });
    expect(suffixed.body).to.deep.include({ domain: 'demo.local', solution: 'standard' });
    for (const domain of ['other.local', 'nowhere.local', '', "x'; drop table sessions; --", 'a\0b']) {
      const refused = await patch(domain);
      expect([refused.status, refused.body], domain).to.deep.equal([
        403,
        { error_code: 1401, error_message: 'Access forbidden' },
      ]);
    }
    for (const domain of [undefined, null, 7, ['master'], { name: 'master' }]) {
      expect((await patch(domain)).body).to.have.nested.property('error_details.field', 'domain');
    }
    expect((await node.call('GET', `/rest/v1${CURRENT}`, { headers })).body).to.include({ domain: 'demo.local' });
  });

  it('gives a new secret with every login, and never adopts one of the client', async () => {
    const planted = 'A'.repeat(43);
    const headers = { cookie: `RingmasterSession=${planted}` };
    const body = { domain: 'demo.local', login: 'alice', pwd: 'demo-alice' };
    const login = await node.call('POST', SESSIONS, { body, headers });
    expect(login.status).to.equal(204);
    expect(login.headers.get('set-cookie')).not.to.include(planted);
    expect((await node.call('GET', `/rest/v1${CURRENT}`, { headers })).status).to.equal(401);
    const again = await node.call('POST', SESSIONS, { body, headers });
    expect(again.headers.get('set-cookie')).not.to.equal(login.headers.get('set-cookie'));
  });

  describe('with an external token', () => {
    const login = (more: object = {}) =>
      node.call('POST', SESSIONS, { body: { token: 'ext-1', session_type: 'token', ...more } });

    it('is refused with 422/1405 without a scenario in the master domain', async () => {
      const reply = await login();
      expect(reply.status).to.equal(422);
      expect(reply.body).to.have.property('error_code', 1405);
      expect(reply.body).to.have.nested.property('error_details.field', 'token');
      expect(asked).to.deep.equal([]);
    });

    it('logs in the user from the scenario, and ignores other credentials in the body', async () => {
      const { settings } = node.directory.collections;
      const key = 'iam_token_svcscript_code';
      await settings.create({ domain_id: node.domainId('demo.local'), key, value: 'not-the-masters' });
      await settings.create({ domain_id: node.domainId('master'), key, value: 'check-token' });
      confirmed = { domain: 'demo.local', login: 'bob' };
      const reply = await login({ domain: 'other.local', login: 'eve', pwd: 'wrong' });
      expect(reply.status).to.equal(200);
      expect(asked).to.deep.equal([['check-token', 'ext-1']]);
      const { session_token } = reply.body as { session_token: string };
      const data = await node.call('GET', `/rest/v1${CURRENT}`, { headers: bearer(session_token) });
      expect(data.body).to.include({ domain: 'demo.local', login: 'bob' });
    });

    it('answers 401/1401 when the scenario confirms no user, or an unknown one', async () => {
      for (const answer of [undefined, { domain: 'demo.local', login: 'nobody' }, { domain: 'x', login: 'bob' }]) {
        confirmed = answer;
        const reply = await login();
        expect(reply.status).to.equal(401);
        expect(reply.body).to.have.property('error_code', 1401);
      }
    });

    it('answers 503/1503 when the scenario does not answer, 422/1405 when it does not exist', async () => {
      for (const [fault, status, error_code] of [
        ['no_answer', 503, 1503],
        ['missing', 422, 1405],
      ] as const) {
        confirmed = new TokenScenarioError(fault, 'The scenario is not well.');
        const reply = await node.call('POST', SESSIONS, { body: { token: 'ext-1' } });
        expect([reply.status, (reply.body as { error_code: number }).error_code]).to.deep.equal([status, error_code]);
      }
    });
  });

  describe('of users', () => {
    const idOf = async (login: string): Promise<string> => {
      const user = (await node.iam.collections.users.list()).find((one) => one.login === login);
      if (user === undefined) throw new Error(`There is no ${login}.`);
      return user.id;
    };

    it('are listed and ended by an administrator of the domain', async () => {
      const path = `/iam/users/${await idOf('carol')}/sessions`;
      const [first, second] = [await node.login('carol@demo.local'), await node.login('carol@demo.local')];
      const list = await node.as('admin@demo.local', 'GET', path);
      expect(list.status).to.equal(200);
      const sessions = list.body as { id: string; current: boolean; session_type: string; domain: string }[];
      expect(sessions).to.have.length(2);
      expect(sessions[0]).to.include({ session_type: 'token', domain: 'demo.local', current: false });
      for (const secret of [first, second]) expect(list.text).not.to.include(secret);
      expect((await node.as('admin@demo.local', 'GET', `${path}/${sessions[0]?.id}`)).body).to.deep.equal(sessions[0]);
      for (const { id } of sessions) {
        expect((await node.as('admin@demo.local', 'DELETE', `${path}/${id}`)).status).to.equal(204);
        expect((await node.as('admin@demo.local', 'DELETE', `${path}/${id}`)).status).to.equal(404);
      }
      for (const secret of [first, second]) {
        expect((await node.call('GET', `/rest/v1${CURRENT}`, { headers: bearer(secret) })).status).to.equal(401);
      }
    });

    it('all end with DELETE on the collection', async () => {
      const path = `/iam/users/${await idOf('dave')}/sessions`;
      const secrets = [await node.login('dave@demo.local'), await node.login('dave@demo.local')];
      expect((await node.as('admin@demo.local', 'DELETE', path)).status).to.equal(204);
      for (const secret of secrets) {
        expect((await node.call('GET', `/rest/v1${CURRENT}`, { headers: bearer(secret) })).status).to.equal(401);
      }
      expect((await node.as('admin@demo.local', 'GET', path)).body).to.deep.equal([]);
    });

    it('stay hidden from other users and from foreign domains', async () => {
      const id = await idOf('alice');
      await node.token('alice@demo.local');
      const path = `/iam/users/${id}/sessions`;
      const [session] = await node.iam.accounts.sessionsOf(id);
      for (const [method, target] of [
        ['GET', path],
        ['DELETE', path],
        ['GET', `${path}/${session?.id}`],
        ['DELETE', `${path}/${session?.id}`],
      ] as const) {
        expect((await node.as('bob@demo.local', method, target)).status, `bob ${method}`).to.equal(403);
        expect((await node.as('eve@other.local', method, target)).status, `eve ${method}`).to.equal(404);
      }
      const eves = `/iam/users/${await idOf('eve')}/sessions/${session?.id}`;
      expect((await node.as('eve@other.local', 'DELETE', eves)).status).to.equal(404);
      expect((await node.as('root@master', 'GET', path)).status).to.equal(200);
      expect((await node.as('alice@demo.local', 'GET', CURRENT)).status).to.equal(200);
    });
  });
});
