import { expect } from 'chai';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import type { RestDeps } from '../../rest-bridge/deps.ts';
import { runRecord } from '../../runtime/history/index.ts';
import { NO_DATA } from './support/doubles.ts';
import { RestNode } from './support/rest-node.ts';

const DOMAIN = { id: 'd1', name: asDomainName('demo.local'), isMaster: false } as ReturnType<
  RestDeps['directory']['domain']
>;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- not read
const NO_DEFINITION = {} as Awaited<ReturnType<RestDeps['runHistory']['collection']>>['definition'];

describe('REST: records of operations and runs', () => {
  let node: RestNode;
  const mine = { id: 'r1', domain: asDomainName('demo.local') };
  const run = { ...mine, scenario: 'menu', version: '1', file: 'menu.yaml', callid: 'c1', start: 7, trace: [] };
  const operation = { ...mine, userid: 'user-alice', operation: 'invite', startts: 1, milestones: [] };
  beforeEach(async () => {
    node = await RestNode.start();
    node.records.byId.set('r1', run);
    node.records.byId.set('r2', { ...run, id: 'r2', domain: asDomainName('other.local') });
    node.records.done.push(operation, { ...operation, id: 'r2', domain: asDomainName('other.local') });
  });
  afterEach(() => node.close());

  for (const [path, record] of [
    ['/uc/operations', operation],
    ['/api/runs', run],
  ] as const) {
    it(`answers one of the domain at ${path}`, async () => {
      const { status, body } = await node.as('admin', 'GET', `${path}/r1`);
      expect(status).to.equal(200);
      expect(body).to.deep.equal(record);
    });

    it(`answers 404 at ${path} for one of another domain, and for an unknown one`, async () => {
      for (const id of ['r2', 'r3']) {
        const { status, body } = await node.as('admin', 'GET', `${path}/${id}`);
        expect(status).to.equal(404);
        expect(body).to.include({ error_code: 1404 });
      }
    });
  }

  it('shows users their own operations at /user/sip/operations', async () => {
    const seen = async (login: string) => (await node.as(login, 'GET', '/user/sip/operations')).body;
    expect(await seen('alice')).to.deep.equal([operation]);
    expect(await seen('admin')).to.deep.equal([]);
    expect((await node.as('alice', 'GET', '/user/sip/operations/r1?mask=id')).body).to.deep.equal({ id: 'r1' });
    expect((await node.as('admin', 'GET', '/user/sip/operations/r1')).status).to.equal(404);
  });

  it('arms the next run of a scenario for a debugger, lists it, and disarms it', async () => {
    const ask = (scenario: string, from?: string) =>
      node.as('admin', 'POST', '/api/debug', { body: { scenario, ...(from === undefined ? {} : { from }) } });
    const list = async () => (await node.as('admin', 'GET', '/api/debug')).body;
    const { status, body } = await ask('hello', '101');
    expect(status).to.equal(200);
    expect(body).to.include({ scenario: 'hello', from: '101', port: 9229 });
    const { port: _port, ...armed } = body as Record<string, unknown>;
    expect(armed['until']).to.be.within(Date.now() + 500_000, Date.now() + 600_000);
    expect(await list()).to.deep.equal([armed]);
    expect((await node.as('admin', 'DELETE', '/api/debug/hello')).status).to.equal(204);
    expect(await list()).to.deep.equal([]);
    expect((await node.as('admin', 'DELETE', '/api/debug/hello')).body).to.include({ error_code: 1404 });
    expect((await ask('none')).status).to.equal(404);
    expect((await ask('')).body).to.include({ error_code: 1400 });
    expect((await ask('blocks')).body).to.deep.include({
      error_code: 1405,
      error_details: {
        field: 'scenario',
        reason: 'it has no script that a debugger could stop in: read its trace, at /api/runs',
      },
    });
  });

  it('lists a run once that ends while runs are listed', async () => {
    const { trace: _trace, ...record } = runRecord({ ...run, id: 'r9' });
    for (const ended of [[record], []]) {
      const collection: RestDeps['runHistory']['collection'] = async () => {
        slow.records.byId.delete('r9');
        return { definition: NO_DEFINITION, list: async () => ended, listJson: async () => '' };
      };
      const directory = { ...NO_DATA.directory, domain: () => DOMAIN };
      const slow = await RestNode.start({ directory, runHistory: { collection } });
      try {
        slow.records.byId.set('r9', { ...run, id: 'r9' });
        expect((await slow.as('admin', 'GET', '/api/runs?mask=id')).body).to.deep.equal([{ id: 'r9' }]);
      } finally {
        await slow.close();
      }
    }
  });

  it('lists the runs of the domain, without their steps', async () => {
    const { trace: _trace, ...listed } = run;
    expect((await node.as('admin', 'GET', '/api/runs')).body).to.deep.equal([{ ...listed, ts: 7, status: 'running' }]);
  });
});
