import { expect } from 'chai';
import { RestNode } from './support/rest-node.ts';

const SESSIONS = '/rest/v1/iam/sessions';
const ADMIN = { domain: 'demo.local', login: 'admin', pwd: 'demo-admin' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** What browsers send for pages of other sites. */
const FOREIGN: readonly Readonly<Record<string, string>>[] = [
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { origin: 'http://127.0.0.1:1' },
  { origin: 'https://other.pbx.example', host: 'pbx.example', 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'cross-site' },
];

/** And for the service's own pages, also behind a proxy that ends TLS or changes Host. */
const OWN: readonly Readonly<Record<string, string>>[] = [
  {},
  { 'sec-fetch-site': 'none' },
  { origin: 'https://pbx.example', host: 'pbx.example', 'sec-fetch-site': 'same-origin' },
  { origin: 'https://PBX.example', host: 'pbx.example' },
  { origin: 'https://pbx.example', host: 'pbx.example:443' },
  { origin: 'http://[::1]:8080', host: '[::1]:8080' },
  { origin: 'https://pbx.example', host: '10.0.0.7:8080', 'sec-fetch-site': 'same-origin' },
];

describe('REST: requests from pages of other sites', () => {
  let node: RestNode;
  beforeEach(async () => {
    node = await RestNode.start();
  });
  afterEach(() => node.close());

  const loginCookie = async (): Promise<string> => {
    const { headers } = await node.call('POST', SESSIONS, { body: ADMIN });
    return (headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
  };
  const call = (from: Readonly<Record<string, string>>, more: Readonly<Record<string, string>>) =>
    node.raw('POST', '/rest/v1/uc/calls!lookup', { ...FORM, ...from, ...more }, 'data={"dialogid":"none"}');

  it('are refused with 403/1401 when they use the session cookie', async () => {
    const cookie = await loginCookie();
    for (const from of FOREIGN) {
      const reply = await call(from, { cookie });
      expect(reply.status, JSON.stringify(from)).to.equal(403);
      const field = 'origin' in from ? 'Origin' : 'Sec-Fetch-Site';
      expect(reply.body).to.include({ error_code: 1401 }).and.have.nested.property('error_details.field', field);
    }
    expect(node.iam.asked).to.deep.equal([]);
  });

  it('are refused for making a token by the cookie, and for the current session', async () => {
    const cookie = await loginCookie();
    const headers = { cookie, origin: 'https://evil.example' };
    const clone = await node.call('POST', SESSIONS, { body: { session_type: 'token_clone_cookie' }, headers });
    const read = await node.call('GET', `${SESSIONS}/current`, {
      headers: { ...headers, authorization: 'Bearer wrong' },
    });
    const end = await node.call('DELETE', `${SESSIONS}/current`, { headers });
    expect([clone.status, read.status, end.status]).to.deep.equal([403, 403, 403]);
    expect((await node.call('GET', `${SESSIONS}/current`, { headers: { cookie } })).status).to.equal(200);
  });

  it('cannot log the browser in, and do not count as failed logins', async () => {
    for (const pwd of ['demo-admin', 'wrong']) {
      const body = `data=${JSON.stringify({ ...ADMIN, pwd })}`;
      const reply = await node.raw('POST', SESSIONS, { ...FORM, origin: 'https://evil.example' }, body);
      expect([reply.status, reply.cookie]).to.deep.equal([403, undefined]);
    }
    expect(node.iam.addresses).to.deep.equal([]);
  });

  it('are allowed from own pages and from programs', async () => {
    const cookie = await loginCookie();
    for (const from of OWN) expect((await call(from, { cookie })).status, JSON.stringify(from)).to.equal(404);
  });

  it('are allowed with a token, which a page cannot send unseen', async () => {
    const authorization = `Bearer ${await node.token()}`;
    for (const from of FOREIGN) expect((await call(from, { authorization })).status).to.equal(404);
    const token = await node.call('POST', SESSIONS, {
      body: { ...ADMIN, session_type: 'token' },
      headers: { origin: 'https://app.example' },
    });
    expect(token.status).to.equal(200);
  });
});
