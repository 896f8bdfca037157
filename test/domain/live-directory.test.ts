import { expect } from 'chai';
import fc from 'fast-check';
import { asDomainName, NO_DOMAIN } from '../../runtime/domain-name/index.ts';
import { EntityError, type LiveDirectory, openDirectory } from '../../runtime/domain/index.ts';
import type { Storage } from '../../runtime/storage/index.ts';
import { createIamCollections } from '../../runtime/iam/index.ts';
import { clear, describeStorages, withStorage } from '../storage/support/storages.ts';

/** Everything that can be asked, for a small world of names. */
function answers(directory: LiveDirectory): unknown {
  const strings = ['a', 'b', '1', '2', '*1', '*11', '*12', '*1a', '*21', '9'];
  return ['one.test', 'two.test'].map(asDomainName).map((domain) => ({
    domain: directory.domain(domain.toUpperCase()),
    byLogin: strings.map((text) => directory.sipUserByLogin(domain, text)),
    byNumber: strings.map((text) => directory.sipUserByNumber(domain, text)),
    featureCodes: (['intercom', 'conference', 'ivr'] as const).map((type) => directory.featureCode(domain, type)),
    routes: strings.flatMap((text) => [directory.route(domain, undefined, text), directory.route(domain, '1', text)]),
    owned: directory.sipUsersOfUser('owner').toSorted((x, y) => (x.id < y.id ? -1 : 1)),
  }));
}

type Step = (directory: LiveDirectory) => Promise<unknown>;

const id = fc.constantFrom('i', 'j', 'k');
const domainId = fc.constantFrom('d1', 'd2');
const create = (
  what: 'sipusers' | 'featurecodes' | 'routes',
  fields: fc.Arbitrary<Record<string, unknown>>,
): fc.Arbitrary<Step> => fields.map((input) => (directory) => directory.collections[what].create(input));
const update = (
  what: 'sipusers' | 'featurecodes' | 'routes',
  fields: fc.Arbitrary<Record<string, unknown>>,
): fc.Arbitrary<Step> =>
  fc.tuple(id, fields).map(
    ([key, input]) =>
      (directory) =>
        directory.collections[what].update(key, input),
  );
const target = fc.constantFrom({ type: 'scenario', code: 's' }, { type: 'reject', status: 486 });
const step: fc.Arbitrary<Step> = fc.oneof(
  create(
    'sipusers',
    fc.record({
      id,
      domain_id: domainId,
      login: fc.constantFrom('a', 'b'),
      phonenumber: fc.constantFrom('', '1', '2'),
      user_id: fc.constantFrom(null, 'owner'),
      pwd: fc.constant('x'),
    }),
  ),
  update(
    'sipusers',
    fc.record({
      login: fc.constantFrom('a', 'b'),
      phonenumber: fc.constantFrom('', '1', '2'),
      user_id: fc.constantFrom(null, 'owner'),
      pwd: fc.constant('x'),
    }),
  ),
  create(
    'featurecodes',
    fc.record({
      id,
      domain_id: domainId,
      prefix: fc.constantFrom('*1', '*2', '*11'),
      type: fc.constantFrom('intercom', 'conference', 'ivr'),
    }),
  ),
  update(
    'featurecodes',
    fc.record({ prefix: fc.constantFrom('*1', '*2'), type: fc.constantFrom('intercom', 'conference', 'ivr') }),
  ),
  create(
    'routes',
    fc.record({
      id,
      domain_id: domainId,
      to_pattern: fc.constantFrom('9', '1', '%', '?'),
      from_pattern: fc.constantFrom('%', '1'),
      priority: fc.integer({ min: 0, max: 2 }),
      target,
    }),
  ),
  update('routes', fc.record({ to_pattern: fc.constantFrom('9', '%'), priority: fc.integer({ min: 0, max: 2 }) })),
  fc.tuple(fc.constantFrom('sipusers' as const, 'featurecodes' as const, 'routes' as const), id).map(
    ([what, key]): Step =>
      (directory) =>
        directory.collections[what].remove(key),
  ),
);

async function world(storage: Storage): Promise<LiveDirectory> {
  const directory = await openDirectory(storage);
  await directory.collections.domains.create({ id: 'd1', name: 'one.test' });
  await directory.collections.domains.create({ id: 'd2', name: 'two.test', parent_id: 'd1' });
  await createIamCollections(storage.db).users.create({ id: 'owner', domain_id: 'd1', login: 'o', pwd: 'x' });
  return directory;
}

describeStorages('directory', (newPlace) => {
  const storage = withStorage(newPlace);

  it('equals a reloaded directory after any sequence of writes', async function () {
    // A dozen databases are filled and loaded again.
    this.timeout(90_000);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        await clear(storage());
        const directory = await world(storage());
        for (const write of steps) {
          await write(directory).catch((error: unknown) => {
            if (!(error instanceof EntityError)) throw error;
          });
        }
        expect(answers(directory)).to.deep.equal(answers(await openDirectory(storage())));
      }),
      { numRuns: 12, seed: 3 },
    );
  });

  it('shows a write before the write returns', async () => {
    const directory = await world(storage());
    const made = await directory.collections.sipusers.create({
      domain_id: 'd2',
      login: 'alice',
      phonenumber: '101',
      pwd: 'x',
    });
    expect(directory.sipUserById(made.id)).to.include({ domain: 'two.test', login: 'alice', phonenumber: '101' });
    await directory.collections.sipusers.update(made.id, { phonenumber: '102' });
    expect(directory.sipUserByNumber(asDomainName('two.test'), '101')).to.equal(undefined);
    expect(directory.sipUserByNumber(directory.domain('TWO.test')?.name ?? NO_DOMAIN, '102')?.id).to.equal(made.id);
    await directory.collections.domains.create({ name: 'three.test' });
    expect(directory.domains().map((domain) => domain.name)).to.have.members(['one.test', 'two.test', 'three.test']);
  });

  it('loses no write during a reload', async () => {
    const directory = await world(storage());
    const writes = [1, 2, 3, 4, 5].map((n) =>
      directory.collections.sipusers.create({ domain_id: 'd1', login: `u${n}`, pwd: 'x' }),
    );
    await Promise.all([directory.reload(), ...writes, directory.reload()]);
    for (let n = 1; n <= 5; n++)
      expect(directory.sipUserByLogin(asDomainName('one.test'), `u${n}`)?.login).to.equal(`u${n}`);
  });

  it('rejects calls in an unknown domain', async () => {
    const directory = await openDirectory(storage());
    expect(directory.route(asDomainName('nowhere.test'), undefined, '1')).to.deep.equal({
      kind: 'reject',
      status: 404,
      reason: 'Not Found',
    });
    expect(directory.domain('nowhere.test')).to.equal(undefined);
  });
});
