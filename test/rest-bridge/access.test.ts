import { expect } from 'chai';
import type { OpenApiDocument } from '../../rest-bridge/openapi/document.ts';
import { DataNode } from './support/data-node.ts';

/** What every user may use without a role (decisions, "roles"); sections are lists of names. */
const OPEN = /^\/(?:user(?:\/.*)?|iam\/sessions\/current|)$|\/$/;
/** A stream: what is told in it depends on the roles. */
const STREAM = /^\/api\/events$/;
/** Below these paths the classes decide, and an unknown one is 404 whatever the role. */
const OWN_CHECK = /^\/model\//;
/** What the demo role `user` grants. */
const GRANTED = /^\/uc\/(?:calls|operations|conferences_by_participation)(?:[/!]|$)/;

/** Every operation of the document, asked as somebody who has no right to it. */
describe('REST: access to every endpoint', () => {
  let node: DataNode;
  let operations: (readonly [method: string, path: string])[];
  before(async () => {
    node = await DataNode.start();
    const { body } = await node.call('GET', '/rest/v1/openapi.json');
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the document has a test of its own
    const { paths } = body as OpenApiDocument;
    operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([, { security }]) => security === undefined)
        .map(([method]) => [method.toUpperCase(), path.replaceAll(/\{[^}]+\}/g, 'x')] as const),
    );
    expect(operations.length).to.be.greaterThan(100);
  });
  after(() => node.close());

  const bodyOf = (method: string): object => (method === 'GET' || method === 'DELETE' ? {} : { body: {} });

  it('requires a session', async () => {
    for (const [method, path] of operations) {
      const reply = await node.call(method, `/rest/v1${path}`, bodyOf(method));
      expect([reply.status, reply.headers.get('www-authenticate')], `${method} ${path}`).to.deep.equal([
        401,
        'Bearer realm="ringmaster"',
      ]);
    }
  });

  it('of the demo role names only existing paths', async () => {
    const [role] = (await node.iam.collections.roles.list()).filter(({ code }) => code === 'user');
    const granted = role?.grants.map(({ path }) => path.replace(/\/\*\*$/, '')) ?? [];
    expect(granted).to.include.members(['/uc/conferences_by_participation', '/user']);
    for (const path of granted) {
      const isThere = operations.some(([, name]) => name === path || name.startsWith(`${path}/`));
      expect(isThere, path).to.equal(true);
    }
  });

  it('is denied to a user without a role, except to the own user paths', async () => {
    const domain_id = node.domainId('demo.local');
    await node.iam.collections.users.create({ domain_id, login: 'nobody', pwd: 'demo-nobody' });
    await node.iam.collections.users.create({ domain_id, login: 'plain', pwd: 'demo-plain', roles: ['user'] });
    for (const [method, path] of operations) {
      const isOpen = OPEN.test(path.replace(/!.*$/, ''));
      if (isOpen || OWN_CHECK.test(path) || STREAM.test(path)) continue;
      const what = `${method} ${path}`;
      const content = method === 'GET' || method === 'DELETE' ? undefined : {};
      const reply = await node.as('nobody@demo.local', method, path, content);
      expect([reply.status, (reply.body as { error_code: number }).error_code], what).to.deep.equal([403, 1401]);
      if (!GRANTED.test(path))
        expect((await node.as('plain@demo.local', method, path, content)).status, what).to.equal(403);
    }
  });

  it('depends on the session alone: no header or parameter changes the domain, user, method or address', async () => {
    const tricks: Record<string, string>[] = [
      { 'x-http-method-override': 'DELETE' },
      { 'x-method-override': 'DELETE', 'x-http-method': 'DELETE' },
      { 'x-original-url': '/rest/v1/iam/users', 'x-rewrite-url': '/rest/v1/iam/users' },
      { 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '127.0.0.1', forwarded: 'for=127.0.0.1' },
      { 'x-forwarded-user': 'admin', 'x-remote-user': 'admin', host: 'master' },
    ];
    for (const headers of tricks) {
      const reply = await node.as('bob@demo.local', 'GET', '/user/info', undefined, headers);
      expect([reply.status, (reply.body as { login: string }).login], JSON.stringify(headers)).to.deep.equal([
        200,
        'bob',
      ]);
      expect((await node.as('bob@demo.local', 'GET', '/iam/users', undefined, headers)).status).to.equal(403);
    }
    for (const query of ['?domain=master', '?domain_id=x', '?_method=DELETE', '?login=admin', '?session_token=x']) {
      expect((await node.as('bob@demo.local', 'GET', `/iam/users${query}`)).status, query).to.equal(403);
    }
    for (const path of [
      '//iam/users',
      '/iam//users',
      '/./iam/users',
      '/user/../iam/users',
      '/iam/users%2f',
      '/IAM/users',
    ]) {
      expect((await node.as('bob@demo.local', 'GET', path)).status, path).to.be.oneOf([400, 403, 404]);
    }
  });

  it('makes a new session at each login, and never adopts one of the client', async () => {
    const planted = 'A'.repeat(43);
    const reply = await node.call('POST', '/rest/v1/iam/sessions', {
      body: { domain: 'demo.local', login: 'alice', pwd: 'demo-alice' },
      headers: { cookie: `RingmasterSession=${planted}` },
    });
    expect(reply.status).to.equal(204);
    const cookie = (reply.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
    expect(cookie).not.to.include(planted);
    const old = { cookie: `RingmasterSession=${planted}` };
    expect((await node.call('GET', '/rest/v1/iam/sessions/current', { headers: old })).status).to.equal(401);
    expect((await node.call('GET', '/rest/v1/iam/sessions/current', { headers: { cookie } })).status).to.equal(200);
  });
});
