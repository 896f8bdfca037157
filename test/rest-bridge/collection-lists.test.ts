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

  it('refuse fields that are none or never answered, by name', async () => {
    for (const field of ['nothing', 'secret', 'pwd', 'ha1_md5', 'domain_id"; --']) {
      const { status, body } = await answerOf('/domain/providers', { filter: JSON.stringify({ [field]: 'x' }) });
      expect([status, body], field).to.deep.include(400);
      expect((await answerOf('/domain/providers', { order: JSON.stringify([field]) })).status, field).to.equal(400);
    }
  });

  it('logged no fault meanwhile', () => {
    expect(node.log).to.deep.equal([]);
  });
});
