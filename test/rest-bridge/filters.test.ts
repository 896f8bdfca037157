import { expect } from 'chai';
import { DataNode } from './support/data-node.ts';
import { dialog } from './support/doubles.ts';

describe('REST: filters', () => {
  let node: DataNode;
  before(async () => {
    node = await DataNode.start();
    const { sipusers } = node.directory.collections;
    const domain_id = node.domainId('demo.local');
    await sipusers.create({ domain_id, login: 'Zed', pwd: 'x', opts: { floor: 3, room: { no: '12' } } });
    node.calls.dialogs.push(dialog('1', { startts: 3, esgdlg: 'gw' }), dialog('2', { startts: 1, status: 'forking' }));
  });
  after(() => node.close());

  const list = (path: string, query: Record<string, unknown>) => {
    const text = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(JSON.stringify(value))}`);
    return node.as('admin@demo.local', 'GET', `${path}?mask=login,dialogid&${text.join('&')}`);
  };
  const logins = async (filter: unknown, more = {}) => {
    const { body, text } = await list('/domain/sipusers', { filter, ...more });
    expect(body, text).to.be.an('array');
    return (body as { login: string }[]).map(({ login }) => login).toSorted();
  };

  for (const [filter, expected] of [
    [{ login: 'alice' }, ['alice']],
    [{ login: 'al%|bo%' }, ['alice', 'bob']],
    [{ login: '/reg/^[a-c]' }, ['alice', 'bob', 'carol']],
    [{ login: '/reg/i/^z' }, ['Zed']],
    [{ phonenumber: '101' }, ['alice']],
    [{ 'opts.floor': 3 }, ['Zed']],
    [{ opts: { floor: '2~4', room: { no: '12' } } }, ['Zed']],
    [['==', ['property', 'login'], 'bob'], ['bob']],
    [
      ['or', ['like', ['prop', 'login'], 'al%'], ['equal', ['field', 'opts', 'floor'], 3]],
      ['Zed', 'alice'],
    ],
    [{ login: "' or 1=1 --" }, []],
    [{}, ['Zed', 'alice', 'bob', 'carol', 'dave']],
  ] as const) {
    it(JSON.stringify(filter), async () => {
      expect(await logins(filter)).to.deep.equal(expected);
    });
  }

  it('count and page the matching items, and order by expression', async () => {
    const count = await list('/domain/sipusers', { filter: { login: '/reg/^[a-c]' }, limit: 0 });
    expect(count.body).to.deep.equal({ count: 3 });
    const page = await list('/domain/sipusers', {
      filter: { login: '/reg/^[a-c]' },
      order: [['desc', ['lower', ['property', 'login']]]],
      offset: 1,
      limit: 1,
    });
    expect(page.body).to.deep.equal([{ login: 'bob' }]);
  });

  it('are refused with the field for an offset or limit out of range', async () => {
    for (const field of ['limit', 'offset']) {
      for (const value of ['1e400', '99999999999999999999', '-1', '1.5', '']) {
        const reply = await node.as('admin@demo.local', 'GET', `/domain/sipusers?${field}=${value}`);
        expect(reply.status, `${field}=${value}`).to.equal(400);
        expect(reply.body).to.have.nested.property('error_details.field', field);
      }
    }
  });

  it('apply to live calls, aliases included', async () => {
    for (const [filter, ids] of [
      [{ status: 'forking' }, ['2']],
      [{ esgdlgid: 'gw' }, ['1']],
      [{ startts: '~2' }, ['2']],
      [{ callids: ['a-1'] }, ['1']],
    ] as const) {
      const { body, text } = await list('/uc/calls', { filter });
      expect(body, text).to.deep.equal(ids.map((dialogid) => ({ dialogid })));
    }
  });

  it('answer 400/1400 with the place of a syntax error', async () => {
    for (const [filter, path] of [
      [['nonsense', 1], 'filter[0]'],
      [['==', ['property', 'password'], 'x'], 'filter[1]'],
      [{ ha1_md5: 'x' }, 'filter.ha1_md5'],
      [7, 'filter'],
    ] as const) {
      const reply = await list('/domain/sipusers', { filter });
      expect(reply.status, JSON.stringify(filter)).to.equal(400);
      expect(reply.body).to.have.property('error_code', 1400);
      expect(reply.body).to.have.nested.property('error_details.path', path);
    }
    const broken = await node.as('admin@demo.local', 'GET', '/domain/sipusers?filter={');
    expect(broken.body).to.have.nested.property('error_details.field', 'filter');
  });
});
