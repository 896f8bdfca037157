import { expect } from 'chai';
import { DataNode } from './support/data-node.ts';

describe('REST: lists of domain-center collections', () => {
  let node: DataNode;
  before(async () => {
    node = await DataNode.start();
    const domain_id = node.domainId('demo.local');
    await node.directory.collections.providers.createAll([
      { domain_id, code: 'a', host: 'a.example', port: 5060, numbers: ['1', '2'], enabled: true },
      { domain_id, code: 'b', host: 'b.example', port: 5070, numbers: ['2', '3'], enabled: false },
      { domain_id, code: 'c', host: 'c.example', port: 7000, numbers: [], mapping: { outbound: [] } },
    ]);
  });
  after(() => node.close());

  const answerOf = async (path: string, query: object): Promise<{ status: number; body: unknown }> => {
    const parameters = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    );
    const { status, body } = await node.as('admin@demo.local', 'GET', `${path}?${parameters}`);
    return { status, body };
  };

  const found = async (filter: unknown): Promise<readonly string[]> => {
    const { status, body } = await answerOf('/domain/providers', { filter: JSON.stringify(filter), mask: 'code' });
    expect(status, JSON.stringify(body)).to.equal(200);
    return (body as { code: string }[]).map(({ code }) => code).toSorted();
  };

  it('find by numbers, lists, booleans and deep keys', async () => {
    expect(await found({ port: 5060 })).to.deep.equal(['a']);
    expect(await found({ port: '5060' })).to.deep.equal(['a']);
    expect(await found({ port: '5061~' })).to.deep.equal(['b', 'c']);
    expect(await found({ port: '~5060;6000~8000' })).to.deep.equal(['a', 'c']);
    expect(await found({ numbers: ['2'] })).to.deep.equal(['a', 'b']);
    expect(await found({ numbers: ['1', '2'] })).to.deep.equal(['a']);
    expect(await found(['contains_any', ['property', 'numbers'], ['list', '1', '3']])).to.deep.equal(['a', 'b']);
    expect(await found(['==', ['size', ['property', 'numbers']], 0])).to.deep.equal(['c']);
    expect(await found({ enabled: false })).to.deep.equal(['b']);
    expect(await found({ enabled: 'True' })).to.deep.equal(['a', 'c']);
    expect(await found({ enabled: 1 })).to.deep.equal(['a', 'c']);
    expect(await found(['not', ['is_null', ['property', 'mapping', 'outbound']]])).to.deep.equal(['c']);
    expect(await found(['>', ['add', ['property', 'port'], 0.5], 5070.4])).to.deep.equal(['b', 'c']);
  });

  it('refuse unknown and secret fields by name', async () => {
    for (const field of ['nothing', 'secret', 'pwd', 'ha1_md5', 'domain_id"; --']) {
      const { status, body } = await answerOf('/domain/providers', { filter: JSON.stringify({ [field]: 'x' }) });
      expect([status, body], field).to.deep.include(400);
      expect((await answerOf('/domain/providers', { order: JSON.stringify([field]) })).status, field).to.equal(400);
    }
  });

  it('are written as a whole or not at all; errors name the field with the index before it', async () => {
    const other = node.domainId('other.local');
    const eve = (await node.iam.collections.users.list()).find(({ login }) => login === 'eve')?.id;
    const someClass = { classname: 'one', storage_mode: 'ram' };
    for (const [path, list, status, field, reason] of [
      [
        '/domain/settings',
        [
          { key: 'k', value: 1 },
          { key: 'k', value: 2 },
        ],
        409,
        '1.key',
        'Another setting has this key. Choose another value.',
      ],
      ['/domain/settings', [{ key: 'k', value: 1 }, { value: 2 }], 400, '1.key', 'is required'],
      ['/domain/settings', [{ key: 'k', value: 1 }, 5], 400, '1', 'must be object'],
      ['/domain/sipusers', [{ login: 'a' }, { login: 'b', user_id: eve }], 400, '1.user_id', 'names an unknown entity'],
      [
        '/domain/settings',
        [
          { key: 'k', value: 1 },
          { key: 'l', value: 1, domain_id: other },
        ],
        403,
        '1.domain_id',
        'names no domain that this session administers',
      ],
      ['/domain/classes', [someClass, { ...someClass, storage_mode: 'x' }], 400, '1.storage_mode', undefined],
      [
        '/domain/classes',
        [someClass, someClass],
        409,
        '1.classname',
        'Another entity has this classname. Choose another value.',
      ],
      ['/domain/classes', [someClass, { ...someClass, domain_id: other }], 403, '1.domain_id', undefined],
    ] as const) {
      const before = (await node.as('admin@demo.local', 'GET', path)).text;
      const reply = await node.as('admin@demo.local', 'POST', path, list);
      const { error_details: details } = reply.body as { error_details: { field: string; reason: string } };
      expect([reply.status, details.field], reply.text).to.deep.equal([status, field]);
      if (reason !== undefined) expect(details.reason).to.equal(reason);
      expect((await node.as('admin@demo.local', 'GET', path)).text).to.equal(before);
    }
  });

  it('refuse ids and codes that no path can name', async () => {
    const scriptdata = { format: 'yaml', source: 'x' };
    for (const [path, given, field, words] of [
      ['/domain/settings', { id: '..', key: 'k', value: 1 }, 'id', 'neither `.` nor `..`'],
      ['/domain/svcscripts', { code: '.', scriptdata }, 'code', 'neither `.` nor `..`'],
      ['/domain/classes', { id: '.', classname: 'one', storage_mode: 'ram' }, 'id', 'neither . nor ..'],
      ['/domain/ivrscripts', { id: 'file.menu', code: 'mine', scriptdata }, 'id', 'file.'],
      ['/domain/ivrscripts', [{ id: 'file.menu', code: 'mine', scriptdata }], '0.id', 'file.'],
      ['/iam/roles', { code: 'x', grants: [{ path: 'uc', methods: ['GET'] }] }, 'grants.0.path', 'a path such as'],
    ] as const) {
      const reply = await node.as('admin@demo.local', 'POST', path, given);
      expect(reply.status, reply.text).to.equal(400);
      expect(reply.body).to.have.nested.property('error_details.field', field);
      expect(reply.body).to.have.nested.property('error_details.reason').that.includes(words);
    }
    for (const storage_mode of ['ram', 'category']) {
      await node.as('admin@demo.local', 'POST', '/domain/classes', { classname: storage_mode, storage_mode });
      for (const id of ['.', '..']) {
        const reply = await node.as('admin@demo.local', 'POST', `/model/${storage_mode}`, { id });
        expect([reply.status, (reply.body as { error_details: unknown }).error_details]).to.deep.equal([
          400,
          { field: 'id', reason: 'must not be . or ..' },
        ]);
      }
    }
  });

  it('log no internal error', () => {
    expect(node.log).to.deep.equal([]);
  });
});
