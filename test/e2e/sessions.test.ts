import { expect } from 'chai';
import { RestClient } from '../phones/rest-client.ts';
import { CALLS, useStage } from '../support/stage.ts';
import { expectError } from './expectations.ts';

/** Few failed logins: the ban filter counts them for all of 127.0.0.1. */
describe('REST sessions', () => {
  const stage = useStage();
  const SESSIONS = '/rest/v1/iam/sessions';
  const ADMIN = { domain: 'demo.local', login: 'admin', pwd: 'demo-admin' };

  it('are required for every request about calls', async () => {
    const anonymous = new RestClient(stage.node.base);
    const requests: [string, string][] = [
      ['GET', CALLS],
      ['GET', `${CALLS}/x`],
      ['POST', CALLS],
      ['INVITE', CALLS],
      ['LOOKUP', CALLS],
      ['POST', `${CALLS}!invite`],
      ['POST', `${CALLS}!lookup`],
      ['DELETE', `${CALLS}/x`],
    ];
    for (const [method, path] of requests) {
      const body = method === 'GET' || method === 'DELETE' ? undefined : { from: '101', to: '102' };
      const answer = await anonymous.send(method, path, body === undefined ? {} : { body });
      expectError(answer, 401, 1401);
    }
    anonymous.close();
  });

  it('are refused for a wrong password with 401', async () => {
    const anonymous = new RestClient(stage.node.base);
    expectError(await anonymous.send('POST', SESSIONS, { body: { ...ADMIN, pwd: 'wrong' } }), 401, 1401);
    anonymous.close();
  });

  it('use a cookie when no session_type is given', async () => {
    const anonymous = new RestClient(stage.node.base);
    const answer = await anonymous.send('POST', SESSIONS, { body: ADMIN });
    expect(answer.status, answer.text).to.equal(204);
    expect(answer.text).to.equal('');
    const cookie = answer.header('set-cookie') ?? '';
    expect(cookie).to.match(/^RingmasterSession=[^;]{20,}/);
    for (const attribute of ['Path=/', 'SameSite=Strict', 'Secure', 'HttpOnly', 'Expires=']) {
      expect(cookie).to.contain(attribute);
    }
    const headers = { Cookie: cookie.split(';')[0] ?? '' };
    expect((await anonymous.send('GET', CALLS, { headers })).json()).to.deep.equal([]);
    anonymous.close();
  });

  it('are read and ended under current', async () => {
    const client = await stage.node.login('alice');
    const session = (await client.get(`${SESSIONS}/current`)).json<Record<string, unknown>>();
    expect(session).to.include({ domain: 'demo.local', domain_is_master: false, login: 'alice', name: 'Alice' });
    expect(session['user_id']).to.be.a('string');
    expect((await client.send('DELETE', `${SESSIONS}/current`)).status).to.equal(204);
    expectError(await client.get(CALLS), 401, 1401);
    client.close();
  });

  it('of type token are cloned from the cookie session sent with the request', async () => {
    const anonymous = new RestClient(stage.node.base);
    const login = await anonymous.send('POST', SESSIONS, { body: ADMIN });
    const headers = { Cookie: (login.header('set-cookie') ?? '').split(';')[0] ?? '' };
    const clone = await anonymous.send('POST', SESSIONS, { body: { session_type: 'token_clone_cookie' }, headers });
    expect(clone.status, clone.text).to.equal(200);
    const client = new RestClient(stage.node.base, clone.json<{ session_token: string }>().session_token);
    expect((await client.get(CALLS)).json()).to.deep.equal([]);
    client.close();
    anonymous.close();
  });
});
