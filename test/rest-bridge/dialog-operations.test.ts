import { expect } from 'chai';
import { dialog } from './support/doubles.ts';
import { RestNode } from './support/rest-node.ts';

describe('REST: operations on a live call', () => {
  let node: RestNode;
  beforeEach(async () => {
    node = await RestNode.start();
    node.calls.dialogs.push(dialog('1'), dialog('2'));
  });
  afterEach(() => node.close());

  for (const [method, path] of [
    ['REFER', '/uc/calls/1'],
    ['POST', '/uc/calls/1!refer'],
  ] as const) {
    it(`run as ${method} ${path}`, async () => {
      const { status, body } = await node.as('admin', method, path, { body: { referto: '103' } });
      expect([status, body]).to.deep.equal([200, { dialogid: '1' }]);
      const [applied] = node.operations.applied;
      expect(applied).to.deep.include({ name: 'refer', dialogid: '1', body: { referto: '103' } });
      expect(applied?.scope).to.deep.equal({ domain: 'demo.local' });
    });
  }

  it('take a selector in the body instead of an id in the path', async () => {
    const { status } = await node.as('admin', 'REFER', '/uc/calls', { body: { callid: 'a-2', referto: '103' } });
    expect(status).to.equal(200);
    expect(node.operations.applied[0]?.dialogid).to.equal('2');
  });

  it('take a selector, and nothing else, from the query', async () => {
    const body = { referto: '103' };
    const other = await node.as('admin', 'REFER', '/uc/calls?callid=a-2&referto=104', { body });
    expect(other.body).to.have.nested.property('error_details.field', 'referto');
    const { status } = await node.as('admin', 'REFER', '/uc/calls?callid=a-2', { body });
    expect(status).to.equal(200);
    expect(node.operations.applied[0]?.body).to.deep.equal({ callid: 'a-2', referto: '103' });
  });

  it('answer 404/1413 for an unknown dialog, and 400/1400 for an invalid body', async () => {
    const gone = await node.as('admin', 'REFER', '/uc/calls/9', { body: { referto: '103' } });
    expect([gone.status, gone.body]).to.deep.equal([404, { error_code: 1413, error_message: 'Dialog not found' }]);
    const bad = await node.as('admin', 'REFER', '/uc/calls/1', { body: {} });
    expect(bad.status).to.equal(400);
    expect(bad.body).to.have.nested.property('error_details.field', 'referto');
    const body = { referto: '103', dry_run: true };
    const misplaced = await node.as('admin', 'REFER', '/uc/calls/1', { body });
    expect(misplaced.status).to.equal(400);
    expect(misplaced.body).to.have.deep.property('error_details', { field: 'dry_run', reason: 'is not known' });
    expect(node.operations.applied).to.deep.equal([]);
  });

  it('exist only on their own paths', async () => {
    expect((await node.as('admin', 'TRANSCRIBE', '/uc/calls', { body: { dialogid: '1' } })).status).to.equal(200);
    expect((await node.as('admin', 'TRANSCRIBE', '/user/sip/calls', { body: {} })).status).to.equal(405);
    expect((await node.as('admin', 'LOOKUP', '/uc/calls/1', { body: {} })).status).to.equal(405);
  });

  it('with dry_run list the affected dialogs, and do nothing', async () => {
    const { status, body } = await node.as('admin', 'REFER', '/uc/calls/1?dry_run=true', { body: { referto: '103' } });
    expect([status, body]).to.deep.equal([
      200,
      { dry_run: true, operation: 'refer', dialogs: [{ dialogid: '1', legs: [] }] },
    ]);
    const ended = await node.as('admin', 'DELETE', '/uc/calls?dry_run=1', { body: { callid: 'a-2' } });
    expect(ended.body).to.deep.equal({ dry_run: true, operation: 'delete', dialogs: [{ dialogid: '2', legs: [] }] });
    expect(node.operations.applied).to.deep.equal([]);
    expect(node.calls.dialogs).to.have.length(2);
  });

  it('end the dialogs of a selector in the body', async () => {
    const { status, body } = await node.as('admin', 'DELETE', '/uc/calls', { body: { callid: 'a-2' } });
    expect([status, body]).to.deep.equal([200, { dialogid: '2' }]);
  });

  describe('on the path of own calls', () => {
    const base = '/user/sip/calls';
    beforeEach(() => {
      node.calls.own.add('1');
    });

    it('see the dialogs of the user only', async () => {
      const listed = await node.as('admin', 'LOOKUP', base, { body: { dialogid: '1' } });
      expect(listed.body).to.deep.equal(['1']);
      expect((await node.as('admin', 'LOOKUP', base, { body: { dialogid: '2' } })).status).to.equal(404);
    });

    it('touch the dialogs of the user only', async () => {
      for (const [method, body] of [
        ['REFER', { referto: '103' }],
        ['DELETE', undefined],
      ] as const) {
        const other = await node.as('admin', method, `${base}/2`, { body });
        expect(other.status, method).to.equal(404);
        const own = await node.as('admin', method, `${base}/1`, { body });
        expect(own.status, method).to.equal(200);
      }
      expect(node.operations.applied.every(({ scope }) => scope.ownUserId === 'user-admin')).to.equal(true);
    });
  });
});
