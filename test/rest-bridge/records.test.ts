import { expect } from 'chai';
import { RestNode } from './support/rest-node.ts';

describe('REST: records of operations and runs', () => {
  let node: RestNode;
  const mine = { id: 'r1', domain: 'demo.local' };
  beforeEach(async () => {
    node = await RestNode.start();
    node.records.byId.set('r1', mine);
    node.records.byId.set('r2', { id: 'r2', domain: 'other.local' });
  });
  afterEach(() => node.close());

  for (const path of ['/uc/operations', '/api/runs']) {
    it(`answers one of the domain at ${path}`, async () => {
      const { status, body } = await node.as('admin', 'GET', `${path}/r1`);
      expect(status).to.equal(200);
      expect(body).to.deep.equal(mine);
    });

    it(`answers 404 at ${path} for one of another domain, and for none`, async () => {
      for (const id of ['r2', 'r3']) {
        const { status, body } = await node.as('admin', 'GET', `${path}/${id}`);
        expect(status).to.equal(404);
        expect(body).to.include({ error_code: 1404 });
      }
    });
  }

  it('lets the next run of a scenario wait for a debugger', async () => {
    const ask = (scenario: string) => node.as('admin', 'POST', '/api/debug', { body: { scenario } });
    expect(await ask('hello')).to.deep.include({ status: 200, body: { scenario: 'hello', port: 9229 } });
    expect((await ask('none')).status).to.equal(404);
    expect((await ask('')).body).to.include({ error_code: 1400 });
  });

  it('lists the runs of the domain', async () => {
    expect((await node.as('admin', 'GET', '/api/runs')).body).to.deep.equal([mine]);
  });
});
