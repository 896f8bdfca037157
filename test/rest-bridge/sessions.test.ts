import { expect } from 'chai';
import { RestNode } from './support/rest-node.ts';

const SESSIONS = '/rest/v1/iam/sessions';
const ALICE = { domain: 'demo.local', login: 'alice', pwd: 'demo-alice' };

describe('REST: sessions and authentication', () => {
  let node: RestNode;
  beforeEach(async () => {
    node = await RestNode.start();
  });
  afterEach(() => node.close());

  const loginCookie = async (): Promise<string> => {
    const { headers } = await node.call('POST', SESSIONS, { body: ALICE });
    return (headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
  };

  it('sets the cookie without session_type', async () => {
    const reply = await node.call('POST', SESSIONS, { body: ALICE });
    expect([reply.status, reply.text]).to.deep.equal([204, '']);
    const [value, ...attributes] = (reply.headers.get('set-cookie') ?? '').split('; ');
    expect(value).to.match(/^RingmasterSession=./);
    expect(attributes).to.have.members([
      'Path=/',
      'HttpOnly',
      'Secure',
      'SameSite=Strict',
      `Expires=${new Date(4_000_000_000_000).toUTCString()}`,
    ]);
  });

  it('renews the cookie of a prolonged session, and never sets it for a token', async () => {
    const cookie = await loginCookie();
    const used = await node.call('GET', '/rest/v1/uc/calls', { headers: { cookie } });
    expect(used.headers.has('set-cookie')).to.equal(false);
    node.iam.renews = true;
    const prolonged = await node.call('GET', '/rest/v1/uc/calls', { headers: { cookie } });
    expect(prolonged.headers.get('set-cookie')).to.include(`${cookie};`).and.include('Expires=');
    const authorization = `Bearer ${await node.token('alice')}`;
    const byToken = await node.call('GET', '/rest/v1/uc/calls', { headers: { cookie, authorization } });
    expect(byToken.headers.has('set-cookie')).to.equal(false);
  });

  it('takes the content types of every POST', async () => {
    const form = new FormData();
    form.set('data', JSON.stringify(ALICE));
    const multipart = new Response(form);
    for (const [type, body] of [
      ['application/x-www-form-urlencoded', new URLSearchParams({ data: JSON.stringify(ALICE) }).toString()],
      ['application/octet-stream', JSON.stringify(ALICE)],
      [multipart.headers.get('content-type') ?? '', await multipart.text()],
    ] as const) {
      const reply = await node.call('POST', SESSIONS, { body, headers: { 'content-type': type } });
      expect(reply.status, `${type}: ${reply.text}`).to.equal(204);
    }
    const headers = { 'content-type': 'application/octet-stream' };
    const lookup = await node.as('admin', 'LOOKUP', '/uc/calls', { body: '{"dialogid":"none"}', headers });
    expect([lookup.status, lookup.body]).to.deep.equal([404, { error_code: 1413, error_message: 'Dialog not found' }]);
  });

  it('answers a token with session_type token, and sets no cookie', async () => {
    const reply = await node.call('POST', SESSIONS, { body: { ...ALICE, session_type: 'token' } });
    expect(reply.status).to.equal(200);
    expect(reply.body).to.have.all.keys('session_token');
    expect(reply.headers.has('set-cookie')).to.equal(false);
  });

  it('clones a cookie session to a token session', async () => {
    const body = { session_type: 'token_clone_cookie' };
    const reply = await node.call('POST', SESSIONS, { body, headers: { cookie: await loginCookie() } });
    expect(reply.status).to.equal(200);
    expect(reply.body).to.have.all.keys('session_token');
    const without = await node.call('POST', SESSIONS, { body });
    expect(without.status).to.equal(401);
    expect(without.body).to.have.property('error_code', 1401);
  });

  it('answers the same 401/1401 for a wrong domain, login or password', async () => {
    const bodies = [
      { ...ALICE, domain: 'x' },
      { ...ALICE, login: 'x' },
      { ...ALICE, pwd: 'x' },
    ];
    for (const body of bodies) {
      const reply = await node.call('POST', SESSIONS, { body });
      expect(reply.status).to.equal(401);
      expect(reply.body).to.deep.equal({ error_code: 1401, error_message: 'Wrong domain, login or password' });
    }
  });

  for (const [body, field] of [
    [{ login: 'a', pwd: 'b' }, 'domain'],
    [{ domain: 'a', login: 'b' }, 'pwd'],
    [{ ...ALICE, pwd: 1 }, 'pwd'],
    [{ ...ALICE, session_type: 'other' }, 'session_type'],
    [{ token: '' }, 'token'],
  ] as const) {
    it(`answers 400/1400 on ${field} for ${JSON.stringify(body)}`, async () => {
      const reply = await node.call('POST', SESSIONS, { body });
      expect(reply.status).to.equal(400);
      expect(reply.body).to.have.property('error_code', 1400);
      expect(reply.body).to.have.nested.property('error_details.field', field);
    });
  }

  it('answers 429/1429 with Retry-After to a banned address, for login and for tokens', async () => {
    const authorization = `Bearer ${await node.token()}`;
    node.iam.banSeconds = 17;
    const login = await node.call('POST', SESSIONS, { body: ALICE });
    const read = await node.call('GET', '/rest/v1/uc/calls', { headers: { authorization } });
    for (const reply of [login, read]) {
      expect(reply.status).to.equal(429);
      expect(reply.headers.get('retry-after')).to.equal('17');
      expect(reply.body).to.have.property('error_code', 1429);
    }
  });

  it('reads the current session by token and by cookie', async () => {
    const expected = {
      domain: 'demo.local',
      domain_is_master: false,
      domains: [{ domain: 'demo.local', is_master: false }],
      login: 'alice',
      name: 'ALICE',
      name_login: 'ALICE (alice)',
      roles: ['user'],
      solution: 'standard',
      tags: [],
      user_id: 'user-alice',
      webapps: [],
    };
    expect((await node.as('alice', 'GET', '/iam/sessions/current')).body).to.deep.equal(expected);
    const byCookie = await node.call('GET', `${SESSIONS}/current`, { headers: { cookie: await loginCookie() } });
    expect(byCookie.body).to.deep.equal(expected);
  });

  it('ends the session of the token and leaves that of the cookie', async () => {
    const cookie = await loginCookie();
    const authorization = `Bearer ${await node.token('alice')}`;
    const logout = await node.call('DELETE', `${SESSIONS}/current`, { headers: { cookie, authorization } });
    expect([logout.status, logout.text]).to.deep.equal([204, '']);
    expect((await node.call('GET', `${SESSIONS}/current`, { headers: { authorization } })).status).to.equal(401);
    expect((await node.call('GET', `${SESSIONS}/current`, { headers: { cookie } })).status).to.equal(200);
    const byCookie = await node.call('POST', `${SESSIONS}/current!delete`, { headers: { cookie } });
    expect(byCookie.status).to.equal(204);
    expect(byCookie.headers.get('set-cookie')).to.match(/^RingmasterSession=;.*Expires=Thu, 01 Jan 1970/);
    expect((await node.call('GET', `${SESSIONS}/current`, { headers: { cookie } })).status).to.equal(401);
  });

  it('reads the session of the cookie when the token is invalid, but neither changes nor ends it', async () => {
    const cookie = await loginCookie();
    for (const authorization of ['Bearer wrong', 'Basic YTpi', 'Bearer']) {
      const headers = { cookie, authorization };
      expect((await node.call('GET', `${SESSIONS}/current`, { headers })).status, authorization).to.equal(200);
      const body = { domain: 'demo.local' };
      expect((await node.call('PATCH', `${SESSIONS}/current`, { body, headers })).status, authorization).to.equal(401);
      expect((await node.call('DELETE', `${SESSIONS}/current`, { headers })).status, authorization).to.equal(401);
    }
    const authorization = 'Bearer wrong';
    const neither = { authorization, cookie: 'RingmasterSession=nothing' };
    expect((await node.call('GET', `${SESSIONS}/current`, { headers: neither })).status).to.equal(401);
    expect((await node.call('GET', `${SESSIONS}/current`, { headers: { authorization } })).status).to.equal(401);
  });

  it('uses only the token when there is an Authorization header', async () => {
    const cookie = await loginCookie();
    for (const authorization of ['Bearer wrong', 'Basic YTpi', 'Bearer', '']) {
      const reply = await node.call('GET', '/rest/v1/uc/calls', { headers: { cookie, authorization } });
      expect(reply.status, authorization).to.equal(401);
    }
    expect((await node.call('GET', '/rest/v1/uc/calls', { headers: { cookie } })).status).to.equal(200);
  });

  it('answers 401/1401 with a challenge without a session, for any path and body', async () => {
    for (const [method, path] of [
      ['GET', '/uc/calls'],
      ['LOOKUP', '/uc/calls'],
      ['POST', '/uc/calls'],
      ['GET', '/nonsense'],
      ['PUT', '/uc/calls'],
    ] as const) {
      const reply = await node.call(method, `/rest/v1${path}`, method === 'GET' ? {} : { body: '{broken' });
      expect(reply.status, `${method} ${path}`).to.equal(401);
      expect(reply.body).to.deep.equal({ error_code: 1401, error_message: 'Authentication required' });
      expect(reply.headers.get('www-authenticate')).to.match(/^Bearer/);
    }
  });

  it('checks roles by the effective method and the path of the route', async () => {
    const forbidden = await node.as('alice', 'LOOKUP', '/uc/calls', { body: {} });
    expect(forbidden.status).to.equal(403);
    expect(forbidden.body).to.deep.equal({ error_code: 1401, error_message: 'Access forbidden' });
    await node.as('alice', 'POST', '/uc/calls%21invite', { body: {} });
    await node.as('alice', 'POST', '/uc/calls/a%2F..%2Fb!delete');
    await node.as('alice', 'GET', '/uc/%63alls?x=!y');
    expect(node.iam.asked).to.deep.equal([
      'alice LOOKUP /uc/calls',
      'alice INVITE /uc/calls',
      'alice DELETE /uc/calls/a%2F..%2Fb',
      'alice GET /uc/calls',
    ]);
  });
});

describe('REST: the address of the caller', () => {
  const headers = { 'x-forwarded-for': '198.51.100.7' };

  it('is believed from a trusted proxy only', async () => {
    for (const [trustProxy, ip] of [
      [[], '127.0.0.1'],
      [['192.0.2.0/24'], '127.0.0.1'],
      [['127.0.0.0/8'], '198.51.100.7'],
    ] as const) {
      const node = await RestNode.start({ trustProxy });
      await node.call('POST', SESSIONS, { body: ALICE, headers });
      expect(node.iam.addresses).to.deep.equal([ip]);
      await node.close();
    }
  });
});
