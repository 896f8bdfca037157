import { expect } from 'chai';
import { redactBody } from '../../rest-bridge/redact.ts';
import { RestNode } from './support/rest-node.ts';

describe('REST: access log', () => {
  it('has the caller and the request, and no secret', async () => {
    const node = await RestNode.start();
    const body = { domain: 'demo.local', login: 'alice', pwd: 'demo-alice', session_type: 'token' };
    const login = await node.call('POST', '/rest/v1/iam/sessions', { body });
    await node.call('POST', '/rest/v1/iam/sessions', { body: { ...body, session_type: 'cookie' } });
    await node.as('admin', 'GET', '/uc/calls?token=query-secret');
    await node.as('admin', 'INVITE', '/uc/calls', {
      body: { from: '101', to: "102'9876" },
      headers: { cookie: 'RingmasterSession=cookie-secret' },
    });
    await node.as('admin', 'LOOKUP', '/uc/calls', { body: { dialogid: 'x' } });
    await node.close();
    const text = node.log.join('');
    expect(text).to.contain('alice');
    for (const secret of ['demo-alice', 'query-secret', 'cookie-secret', '9876', ...node.iam.sessions.keys()]) {
      expect(text).not.to.contain(secret);
    }
    expect(login.status).to.equal(200);
    const lines = node.log
      .map((line): Record<string, unknown> => JSON.parse(line))
      .filter(({ msg }) => msg === 'request');
    expect(lines.map(({ method, path, status }) => [method, path, status])).to.deep.equal([
      ['POST', '/rest/v1/iam/sessions', 200],
      ['POST', '/rest/v1/iam/sessions', 204],
      ['GET', '/rest/v1/uc/calls', 400],
      ['INVITE', '/rest/v1/uc/calls', 200],
      ['LOOKUP', '/rest/v1/uc/calls', 404],
    ]);
    expect(lines[3]).to.include({ login: 'admin', domain: 'demo.local', operation: 'op-1', route: '/uc/calls' });
  });

  it('has requests of /healthz at the level debug only, also of a node that takes no calls', async () => {
    const node = await RestNode.start();
    await node.call('GET', '/healthz');
    node.health = async () => ({ ok: false, roles: ['mware'], counts: {}, database: 'unavailable' });
    expect((await node.call('GET', '/healthz')).status).to.equal(503);
    await node.close();
    const lines = node.log.map((line): Record<string, unknown> => JSON.parse(line));
    expect(lines.filter(({ path }) => path === '/healthz').map(({ status, level }) => [status, level])).to.deep.equal([
      [200, 20],
      [503, 20],
    ]);
  });

  it('cuts DTMF tails and secrets at any depth, and leaves the request alone', () => {
    const body = { to: '102,1', list: [{ referto: "5'6", dtmf: '7', Token: 't', from: "1'2" }] };
    expect(redactBody(body)).to.deep.equal({
      to: '102,[redacted]',
      list: [{ referto: "5'[redacted]", dtmf: '[redacted]', Token: '[redacted]', from: "1'2" }],
    });
    expect(body.to).to.equal('102,1');
  });
});
