import { expect } from 'chai';
import fc from 'fast-check';
import { answerList, type ListQuery } from '../../rest-bridge/collection/list.ts';
import { DomainResource } from '../../rest-bridge/domain-center/domain-resource.ts';
import type { Static } from 'typebox';
import { DataNode } from './support/data-node.ts';

type Query = Static<typeof ListQuery>;

const NAMES = ['Anna', 'anna', 'Bob', 'bo%b', 'C_d', 'É', 'z\\z', '', '10', '9', '\u{1F600}', 'a|b', 'true'];

/** A value of any type that a composite may hold. */
const values = fc.oneof(
  fc.constantFrom<unknown>(...NAMES),
  fc.integer({ min: -3, max: 12 }),
  fc.boolean(),
  fc.constant({ deep: 'x' }),
  fc.constant(['a', 'b']),
);

const seed = 20_261_121;

/** Conditions over the fields of sipusers and providers, in both forms. */
const textField = fc.constantFrom('name', 'login');
const needle = fc.constantFrom(...NAMES, 'a%', '%b%', '/reg/^[a-b]', '/reg/i/ANN', 'Anna|Bob', '1~9', '~5;9~');
const objectForm = fc.oneof(
  fc.record({ name: needle }),
  fc.record({ login: fc.constantFrom('user1%', 'user7', 'user2|user3') }),
  fc.record({ 'opts.v': needle }),
  fc.record({ opts: fc.record({ v: fc.integer({ min: 0, max: 9 }) }) }),
  fc.record({ user_id: fc.constant(null) }),
  fc.record({ name: needle, 'opts.w': fc.constantFrom<unknown>(true, 'true', 3, '2~8') }),
);
const comparison = fc.tuple(
  fc.constantFrom('==', '!=', '<', '>=', 'like', 'ilike', 'contains', 'starts_with', 'ends_with'),
  textField.map((name) => ['property', name]),
  fc.constantFrom(...NAMES, 'a%', '%o%'),
);
const prefixForm = fc.oneof(
  comparison,
  fc.tuple(fc.constantFrom('and', 'or'), comparison, comparison),
  fc.tuple(fc.constant('not'), comparison),
  fc.constant(['is_null', ['property', 'opts', 'v']]),
  fc.constant(['>', ['length', ['property', 'name']], 3]),
  fc.constant(['in', ['property', 'name'], ['list', 'Anna', '9']]),
  fc.constant(['==', ['lower', ['property', 'name']], 'anna']),
);
const order = fc.oneof(
  fc.constantFrom<unknown>(
    ['name'],
    [{ name: 'desc' }],
    ['name', { login: 'desc' }],
    [['desc', ['lower', ['property', 'name']]]],
    ['opts.v'],
    [{ 'opts.v': 'desc' }, 'name'],
    ['user_id', 'name'],
  ),
);
const queries: fc.Arbitrary<Query> = fc.record(
  {
    filter: fc.oneof(objectForm, prefixForm).map((filter) => JSON.stringify(filter)),
    order: order.map((entries) => JSON.stringify(entries)),
    offset: fc.integer({ min: 0, max: 20 }),
    limit: fc.integer({ min: 0, max: 15 }),
    countonly: fc.boolean(),
    flat: fc.boolean(),
    mask: fc.constantFrom('id', 'name,login', 'opts.v,name', 'opts', 'nothing', 'ext.ct,id'),
  },
  { requiredKeys: [] },
);

describe('REST: lists of domain-center collections', () => {
  let node: DataNode;
  before(async () => {
    node = await DataNode.start();
    const domain_id = node.domainId('demo.local');
    const [all] = fc.sample(fc.array(fc.tuple(values, values), { minLength: 80, maxLength: 80 }), { seed, numRuns: 1 });
    await node.directory.collections.sipusers.createAll(
      (all ?? []).map(([v, w], index) => ({
        id: `s${(index * 37) % 80}`,
        domain_id,
        login: `user${index}`,
        name: NAMES[index % NAMES.length],
        pwd: 'x',
        opts: { v, w },
      })),
    );
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

  it('are what a plain look through all of them finds, for any filter, order, mask and page', async () => {
    const { sipusers } = node.directory.collections;
    const { type } = new DomainResource(sipusers, node.directory, { entity: 'Sipuser', keys: [] });
    const all = (await sipusers.list()).filter(({ domain_id }) => domain_id === node.domainId('demo.local'));
    await fc.assert(
      fc.asyncProperty(queries, async (query) => {
        const { status, body } = await answerOf('/domain/sipusers', query);
        expect({ status, body }).to.deep.equal({
          status: 200,
          body: JSON.parse(JSON.stringify(answerList(type, all, query))) as unknown,
        });
      }),
      { seed, numRuns: 150 },
    );
  });

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
