import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { openDirectory } from '../../runtime/domain/index.ts';
import { DEMO_PEOPLE, DEMO_SCENARIOS, createDemoData, isEmpty } from '../../runtime/iam/index.ts';
import { describeStorages, withStorage } from '../storage/support/storages.ts';

describeStorages('demo data', (newPlace) => {
  const storage = withStorage(newPlace);

  it('match the start banner', async () => {
    expect(await isEmpty(storage())).to.equal(true);
    expect(await createDemoData(storage())).to.equal(true);
    const directory = await openDirectory(storage());
    const master = directory.domain('master');
    expect(master).to.include({ isMaster: true, parentId: undefined });
    expect(directory.domain('demo.local')).to.include({ isMaster: false, parentId: master?.id });
    for (const { login, name, phonenumber } of DEMO_PEOPLE) {
      const sipuser = directory.sipUserByNumber(asDomainName('demo.local'), phonenumber);
      expect(sipuser).to.include({ login, name, domain: 'demo.local' });
      expect(sipuser?.userId).to.be.a('string');
      const secret = `${login}:demo.local:demo-${login}`;
      expect(sipuser?.ha1).to.deep.equal({
        md5: createHash('md5').update(secret).digest('hex'),
        sha256: createHash('sha256').update(secret).digest('hex'),
      });
    }
    const decide = (dialled: string) => {
      const { featureCode, ...decision } = {
        featureCode: undefined,
        ...directory.route(asDomainName('demo.local'), '101', dialled),
      };
      return { ...decision, by: featureCode === undefined ? undefined : (featureCode as { prefix: string }).prefix };
    };
    expect(DEMO_SCENARIOS).to.include({ '500': 'menu', '501': 'echo' });
    for (const [number, code] of Object.entries(DEMO_SCENARIOS))
      expect(decide(number)).to.deep.equal({ kind: 'scenario', code, by: undefined });
    expect(decide('510')).to.include({ kind: 'reject', status: 404 });
    expect(decide('*55echo')).to.deep.equal({ kind: 'scenario', code: 'echo', by: '*55' });
    expect(decide('*7042')).to.deep.equal({ kind: 'conference', room: '42', by: '*70' });
    expect(decide('*80102')).to.include({ kind: 'sipuser', by: '*80' });
  });

  it('are created once, also when several nodes start at once', async () => {
    const made = await Promise.all([1, 2, 3].map(() => createDemoData(storage())));
    expect(made.filter(Boolean)).to.have.length(1);
    expect(await createDemoData(storage())).to.equal(false);
    const users = await storage().db.selectFrom('users').select('login').orderBy('login').execute();
    expect(users.map((user) => user.login)).to.deep.equal(['admin', 'alice', 'bob', 'carol', 'dave']);
  });

  it('are not created in a store with other data', async () => {
    const directory = await openDirectory(storage());
    await directory.collections.domains.create({ name: 'mine.local' });
    expect(await createDemoData(storage())).to.equal(false);
    expect(await storage().db.selectFrom('users').selectAll().execute()).to.deep.equal([]);
  });
});
