import { expect } from 'chai';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { openDirectory } from '../../runtime/domain/index.ts';
import {
  createDemoData,
  createIam,
  FirstAccountsError,
  makeAccountsOfEmptyStore,
  makeFirstAccounts,
} from '../../runtime/iam/index.ts';
import { describeStorages, failure, withStorage } from '../storage/support/storages.ts';

const SHOP = { domain: 'shop.example', admin: { login: 'root' }, sipusers: [{ login: '101' }, { login: '102' }] };

describeStorages('first accounts', (newPlace) => {
  const storage = withStorage(newPlace);

  it('an administrator with a generated password logs in to the domain and the master domain', async () => {
    const { domain, admin, sipusers } = await makeFirstAccounts(storage(), SHOP);
    expect(domain).to.deep.equal({ name: 'shop.example', made: true });
    const passwords = [admin, ...sipusers].map((account) => (account.made ? account.pwd : ''));
    for (const password of passwords) expect(password).to.match(/^(?:[2-9a-z]{4}-){4}[2-9a-z]{4}$/);
    expect(new Set(passwords).size).to.equal(3);
    const directory = await openDirectory(storage());
    expect(directory.domain('master')).to.include({ isMaster: true });
    expect(directory.sipUserByNumber(asDomainName('shop.example'), '102')).to.include({ login: '102' });
    const iam = await createIam(storage(), directory);
    for (const name of ['shop.example', 'master']) {
      const login = { domain: name, login: 'root', pwd: passwords[0] ?? '' };
      expect(await iam.login(login, 'token', '192.0.2.1'), name).to.include({ ok: true });
    }
    await iam.close();
  });

  it('a second run makes what is missing, and changes nothing else', async () => {
    await makeFirstAccounts(storage(), SHOP);
    const rows = async () => ({
      users: await storage().db.selectFrom('users').selectAll().execute(),
      phones: await storage().db.selectFrom('sipusers').selectAll().where('login', '!=', '103').execute(),
    });
    const before = await rows();
    const sipusers = [...SHOP.sipusers, { login: '103', pwd: 'given' }];
    expect(await makeFirstAccounts(storage(), { ...SHOP, domain: 'SHOP.example', sipusers })).to.deep.equal({
      domain: { name: 'shop.example', made: false },
      admin: { login: 'root', made: false },
      sipusers: [
        { login: '101', made: false },
        { login: '102', made: false },
        { login: '103', made: true, pwd: 'given' },
      ],
    });
    expect(await rows()).to.deep.equal(before);
  });

  it('a second domain stands beside the first, below the same master domain, which its administrator cannot reach', async () => {
    await makeFirstAccounts(storage(), SHOP);
    const { admin } = await makeFirstAccounts(storage(), { ...SHOP, domain: 'garage.example' });
    const directory = await openDirectory(storage());
    const parents = ['shop.example', 'garage.example'].map((name) => directory.domain(name)?.parentId);
    expect(parents).to.deep.equal([directory.domain('master')?.id, directory.domain('master')?.id]);
    const iam = await createIam(storage(), directory);
    const logIn = async (domain: string) =>
      (await iam.login({ domain, login: 'root', pwd: admin.made ? admin.pwd : '' }, 'token', '192.0.2.1')).ok;
    expect([await logIn('garage.example'), await logIn('master'), await logIn('shop.example')]).to.deep.equal([
      true,
      false,
      false,
    ]);
    await iam.close();
  });

  it('invalid accounts, the master domain and stores with demo data are refused, and nothing is made', async () => {
    const refused = async (accounts: typeof SHOP) => failure(makeFirstAccounts(storage(), accounts));
    expect(await refused({ ...SHOP, domain: 'MASTER' })).to.be.instanceOf(FirstAccountsError);
    const phone = await refused({ ...SHOP, sipusers: [{ login: '1 1' }] });
    expect(phone).to.be.instanceOf(FirstAccountsError);
    expect(String(phone)).to.include('the phone 1 1, whose login is its number: sipuser.login');
    expect(await storage().db.selectFrom('domains').selectAll().execute()).to.deep.equal([]);
    await createDemoData(storage());
    expect(String(await refused(SHOP))).to.include('demo accounts');
  });

  it('a user who is no administrator does not become one', async () => {
    const { domain } = await makeFirstAccounts(storage(), SHOP);
    const { id } = await storage()
      .db.selectFrom('domains')
      .select('id')
      .where('name', '=', domain.name)
      .executeTakeFirstOrThrow();
    const directory = await openDirectory(storage());
    const iam = await createIam(storage(), directory);
    await iam.collections.users.create({ domain_id: id, login: 'anna', pwd: 'x' });
    await iam.close();
    const error = await failure(makeFirstAccounts(storage(), { ...SHOP, admin: { login: 'anna' } }));
    expect(error).to.be.instanceOf(FirstAccountsError);
  });

  it('are made in an empty store once, also when several nodes start at once', async () => {
    const made = await Promise.all([1, 2, 3].map(() => makeAccountsOfEmptyStore(storage(), SHOP)));
    expect(made.filter(Boolean)).to.have.length(1);
    expect(await makeAccountsOfEmptyStore(storage(), { ...SHOP, domain: 'other.example' })).to.equal(false);
    const names = await storage().db.selectFrom('domains').select('name').orderBy('name').execute();
    expect(names.map(({ name }) => name)).to.deep.equal(['master', 'shop.example']);
  });
});
