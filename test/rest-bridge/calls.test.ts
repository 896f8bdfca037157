import { expect } from 'chai';
import { once } from 'node:events';
import { request } from 'node:http';
import { OperationError, ParameterError } from '../../runtime/operations/index.ts';
import { dialog } from './support/doubles.ts';
import { holdOperation } from './support/held-operation.ts';
import { RestNode } from './support/rest-node.ts';

describe('REST: calls', () => {
  let node: RestNode;
  beforeEach(async () => {
    node = await RestNode.start();
  });
  afterEach(() => node.close());

  describe('list and read', () => {
    beforeEach(() => {
      node.calls.dialogs.push(
        dialog('1', { startts: 3 }),
        dialog('2', { startts: 1, opts: { 'referred-by': '<sip:carol@demo.local>', replaces: 'x' } }),
        dialog('3', { startts: 2 }),
      );
    });

    it('answers every field of the dialogs of the domain', async () => {
      const { status, body } = await node.as('admin', 'GET', '/uc/calls');
      expect(status).to.equal(200);
      expect(body).to.deep.equal(node.calls.dialogs);
    });

    it('shows nothing of another domain', async () => {
      const authorization = `Bearer ${await node.token('admin', 'other.local')}`;
      const { body } = await node.call('GET', '/rest/v1/uc/calls', { headers: { authorization } });
      expect(body).to.deep.equal([]);
      const read = await node.call('GET', '/rest/v1/uc/calls/1', { headers: { authorization } });
      expect(read.status).to.equal(404);
    });

    it('obeys mask: dotted names, the esgdlgid alias, unknown names ignored', async () => {
      const { body } = await node.as(
        'admin',
        'GET',
        '/uc/calls/2?mask=opts.replaces,esgdlgid,%20dialogid,nonsense,legs.side',
      );
      expect(body).to.deep.equal({
        dialogid: '2',
        esgdlg: '',
        legs: [{ side: 'a' }, { side: 'b' }],
        opts: { replaces: 'x' },
      });
    });

    it('answers flat', async () => {
      const { body } = await node.as('admin', 'GET', '/uc/calls/2?mask=opts,site&flat=1');
      expect(body).to.deep.equal({
        site: 'default',
        'opts.referred-by': '<sip:carol@demo.local>',
        'opts.replaces': 'x',
      });
    });

    it('pages by offset and limit', async () => {
      const { body } = await node.as('admin', 'GET', '/uc/calls?offset=1&limit=1&mask=dialogid');
      expect(body).to.deep.equal([{ dialogid: '2' }]);
    });

    it('orders by fields', async () => {
      const order = encodeURIComponent('[{"opts.replaces":"asc"},{"startts":"desc"}]');
      const { body } = await node.as('admin', 'GET', `/uc/calls?mask=dialogid&order=${order}`);
      expect(body).to.deep.equal([{ dialogid: '2' }, { dialogid: '1' }, { dialogid: '3' }]);
    });

    for (const query of ['limit=0', 'limit=0&offset=2', 'countonly=true', 'countonly']) {
      it(`answers the number of items for ${query}`, async () => {
        expect((await node.as('admin', 'GET', `/uc/calls?${query}`)).body).to.deep.equal({ count: 3 });
      });
    }

    for (const [query, field] of [
      ['limit=-1', 'limit'],
      ['limit=x', 'limit'],
      ['offset=1.5', 'offset'],
      ['flat=perhaps', 'flat'],
      ['order=startts', 'order'],
      ['order=["startts",{"a":"up"}]', 'order'],
      ['limit=1&limit=2', 'limit'],
    ] as const) {
      it(`answers 400/1400 for ${query}`, async () => {
        const { status, body } = await node.as('admin', 'GET', `/uc/calls?${query}`);
        expect(status).to.equal(400);
        expect(body).to.have.property('error_code', 1400);
        expect(body).to.have.nested.property('error_details.field', field);
        expect(body).to.have.nested.property('error_details.reason').that.is.a('string');
      });
    }

    it('answers 404/1413 for an unknown id', async () => {
      const { status, body } = await node.as('admin', 'GET', '/uc/calls/none');
      expect(status).to.equal(404);
      expect(body).to.deep.equal({ error_code: 1413, error_message: 'Dialog not found' });
    });

    it('answers HEAD, and !head without a body', async () => {
      const head = await node.as('admin', 'HEAD', '/uc/calls/1');
      expect([head.status, head.text]).to.deep.equal([200, '']);
      const fallback = await node.as('admin', 'POST', '/uc/calls/1!head');
      expect([fallback.status, fallback.text]).to.deep.equal([200, '']);
      expect(fallback.headers.get('content-length')).to.equal('0');
      expect((await node.as('admin', 'POST', '/uc/calls/none!head')).status).to.equal(404);
    });
  });

  describe('lookup', () => {
    beforeEach(() => {
      node.calls.dialogs.push(dialog('1'));
    });

    for (const [method, path] of [
      ['LOOKUP', '/uc/calls'],
      ['POST', '/uc/calls!lookup'],
      ['POST', '/uc/calls%21lookup'],
    ] as const) {
      it(`works as ${method} ${path}`, async () => {
        const { status, body } = await node.as('admin', method, path, { body: { callid: 'b-1' } });
        expect(status).to.equal(200);
        expect(body).to.deep.equal(['1']);
      });
    }

    it('answers 404/1413 without a match', async () => {
      const { status, body } = await node.as('admin', 'LOOKUP', '/uc/calls', { body: { dialogid: '9' } });
      expect(status).to.equal(404);
      expect(body).to.deep.equal({ error_code: 1413, error_message: 'Dialog not found' });
    });

    for (const [body, field] of [
      [{ dialogid: 7 }, 'dialogid'],
      [{ from: '1', mode: 'x' }, 'mode'],
      [[], 'body'],
    ] as const) {
      it(`answers 400/1400 for ${JSON.stringify(body)}`, async () => {
        const reply = await node.as('admin', 'LOOKUP', '/uc/calls', { body });
        expect(reply.status).to.equal(400);
        expect(reply.body).to.have.nested.property('error_details.field', field);
      });
    }
  });

  describe('start', () => {
    const body = { from: '101', to: "102'1,2", response_mode: 4, callerid: null };

    for (const [method, path] of [
      ['POST', '/uc/calls'],
      ['INVITE', '/uc/calls'],
      ['POST', '/uc/calls!invite'],
    ] as const) {
      it(`works as ${method} ${path}`, async () => {
        const reply = await node.as('admin', method, path, { body });
        expect(reply.status).to.equal(200);
        expect(reply.body).to.deep.equal({ result: 'ok', ivrcallid: 'c-1' });
        expect(reply.headers.get('operation-id')).to.equal('op-1');
        const [{ body: passed, scope } = { body: undefined, scope: undefined }] = node.operations.invited;
        expect(passed).to.deep.equal(body);
        expect(scope).to.deep.equal({ domain: 'demo.local' });
      });
    }

    it('takes a form with the parameter data', async () => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const form = new URLSearchParams({ data: JSON.stringify(body) }).toString();
      expect((await node.as('admin', 'INVITE', '/uc/calls', { body: form, headers })).status).to.equal(200);
      expect(node.operations.invited[0]?.body).to.deep.equal(body);
      const without = await node.as('admin', 'INVITE', '/uc/calls', { body: JSON.stringify(body), headers });
      expect(without.status).to.equal(400);
      expect(without.body).to.have.nested.property('error_details.field', 'data');
    });

    it('converts nothing in a body', async () => {
      for (const [wrong, field] of [
        [{ from: 101, to: '102' }, 'from'],
        [{ from: '101', to: '102', response_mode: '3' }, 'response_mode'],
        [{ from: '101', to: '102', use_intercom: 'true' }, 'use_intercom'],
        [{ from: '101' }, 'to'],
      ] as const) {
        const reply = await node.as('admin', 'POST', '/uc/calls', { body: wrong });
        expect(reply.status).to.equal(400);
        expect(reply.body).to.have.nested.property('error_details.field', field);
      }
      expect(node.operations.invited).to.deep.equal([]);
    });

    it('lists the allowed values of a union', async () => {
      const reply = await node.as('admin', 'POST', '/uc/calls', { body: { ...body, response_mode: 6 } });
      expect(reply.body).to.have.nested.property('error_details.reason', 'must be one of 0, 1, 2, 3, 4, 5');
    });

    it('answers the reason of a refused operation', async () => {
      node.operations.answer = async () => {
        throw new OperationError({ kind: 'not_applicable', field: 'use_intercom', reason: 'there is no intercom' });
      };
      const reply = await node.as('admin', 'POST', '/uc/calls', { body });
      expect(reply.status).to.equal(422);
      expect(reply.body).to.have.property('error_code', 1405);
      expect(reply.body).to.have.nested.property('error_details.field', 'use_intercom');
    });

    it('answers 400/1400 to a parameter that the operation refuses', async () => {
      node.operations.answer = async () => {
        throw new ParameterError('to', 'no such route');
      };
      const reply = await node.as('admin', 'POST', '/uc/calls', { body });
      expect(reply.status).to.equal(400);
      expect(reply.body).to.have.deep.property('error_details', { field: 'to', reason: 'no such route' });
    });

    it('answers 500/1409 and no inner text when the operation breaks', async () => {
      node.operations.answer = async () => {
        throw new Error('secret inner text');
      };
      const reply = await node.as('admin', 'POST', '/uc/calls', { body });
      expect(reply.status).to.equal(500);
      expect(reply.body).to.deep.equal({ error_code: 1409, error_message: 'Internal server error' });
      expect(node.log.join('')).to.contain('secret inner text');
    });

    it('continues after the client disconnected', async () => {
      const held = holdOperation(node);
      const headers = { authorization: `Bearer ${await node.token()}`, 'content-type': 'application/json' };
      const connected = once(node.app.server, 'connection');
      const target = { host: '127.0.0.1', port: node.port, method: 'INVITE', path: '/rest/v1/uc/calls', headers };
      const client = request(target);
      client.on('error', () => {});
      client.end(JSON.stringify(body));
      await held.started;
      const [socket] = await connected;
      client.destroy();
      await once(socket, 'close');
      expect(held.finished()).to.equal(false);
      held.finish();
      await held.done;
      expect((await node.call('GET', '/healthz')).status).to.equal(200);
      expect(node.log.join('')).not.to.contain('request failed');
    });
  });

  describe('terminate', () => {
    for (const [method, path] of [
      ['DELETE', '/uc/calls/1'],
      ['POST', '/uc/calls/1!delete'],
      ['POST', '/uc/calls/1%21delete'],
    ] as const) {
      it(`works as ${method} ${path}`, async () => {
        node.calls.dialogs.push(dialog('1'));
        const { status, body } = await node.as('admin', method, path);
        expect(status).to.equal(200);
        expect(body).to.deep.equal({ dialogid: '1' });
        const again = await node.as('admin', method, path);
        expect(again.status).to.equal(404);
        expect(again.body).to.deep.equal({ error_code: 1413, error_message: 'Dialog not found' });
      });
    }

    it('is not triggered by a query that ends like a suffix', async () => {
      node.calls.dialogs.push(dialog('1'));
      expect((await node.as('admin', 'POST', '/uc/calls/1?label=!delete')).status).to.equal(405);
      expect((await node.as('admin', 'GET', '/uc/calls/1')).status).to.equal(200);
    });
  });
});
