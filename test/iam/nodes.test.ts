import { expect } from 'chai';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { type LiveDirectory, openDirectory } from '../../runtime/domain/index.ts';
import { BAN_FAILURES, createDemoData, createIam, type IamService } from '../../runtime/iam/index.ts';
import type { Storage } from '../../runtime/storage/index.ts';
import { describePostgres } from '../storage/support/storages.ts';
import { eventually } from '../support/eventually.ts';

const IP = '192.0.2.7';

describePostgres('several nodes on one database', (newPlace) => {
  interface Node {
    readonly storage: Storage;
    readonly directory: LiveDirectory;
    readonly iam: IamService;
  }
  let a: Node;
  let b: Node;
  before(async () => {
    const place = await newPlace();
    const open = async (): Promise<Node> => {
      const storage = await place.open();
      await createDemoData(storage);
      const directory = await openDirectory(storage);
      return { storage, directory, iam: await createIam(storage, directory) };
    };
    a = await open();
    b = await open();
  });
  after(async () => {
    for (const { iam, storage } of [a, b]) {
      await iam.close();
      await storage.close();
    }
  });

  const domainId = (): string => a.directory.domain('demo.local')?.id ?? '';
  const logIn = async (node: Node, login = 'alice', pwd = `demo-${login}`, ip = '127.0.0.1') =>
    await node.iam.login({ domain: 'demo.local', login, pwd }, 'token', ip);
  const tokenOf = async (node: Node, login?: string): Promise<string> => {
    const result = await logIn(node, login);
    if (!result.ok) throw new Error(result.reason);
    return result.token;
  };
  const sessionAt = async (node: Node, token: string) => {
    const result = await node.iam.authenticate(token, '127.0.0.1');
    return result.ok ? result.session : undefined;
  };

  it('share accounts, numbers, prefixes and routes', async () => {
    const { sipusers, featurecodes, routes } = a.directory.collections;
    const { id } = await sipusers.create({ domain_id: domainId(), login: 'zoe', phonenumber: '777', pwd: 'x' });
    await eventually(async () =>
      expect(b.directory.sipUserByNumber(asDomainName('demo.local'), '777')?.login).to.equal('zoe'),
    );
    await sipusers.update(id, { phonenumber: '778' });
    await eventually(async () => {
      expect(b.directory.sipUserByNumber(asDomainName('demo.local'), '777')).to.equal(undefined);
      expect(b.directory.sipUserByNumber(asDomainName('demo.local'), '778')?.login).to.equal('zoe');
    });
    const code = await featurecodes.create({ domain_id: domainId(), prefix: '*81', type: 'intercom' });
    await featurecodes.update(code.id, { prefix: '*82' });
    const target = { type: 'scenario', code: 'menu' };
    const route = await routes.create({ domain_id: domainId(), to_pattern: '599', target });
    await eventually(async () => {
      expect(b.directory.route(asDomainName('demo.local'), '101', '*82778')).to.deep.include({ kind: 'sipuser' });
      expect(b.directory.route(asDomainName('demo.local'), '101', '*81778')).to.deep.include({ kind: 'reject' });
      expect(b.directory.route(asDomainName('demo.local'), '101', '599')).to.deep.include({ kind: 'scenario' });
    });
    await sipusers.remove(id);
    await featurecodes.remove(code.id);
    await routes.remove(route.id);
    await eventually(async () => {
      expect(b.directory.sipUserById(id)).to.equal(undefined);
      expect(b.directory.route(asDomainName('demo.local'), '101', '599')).to.deep.include({ kind: 'reject' });
    });
  });

  it('share domains by their current name', async () => {
    const { domains } = a.directory.collections;
    const { id } = await domains.create({ name: 'shared.local' });
    await eventually(async () => expect(b.directory.domain('shared.local')?.id).to.equal(id));
    await domains.update(id, { name: 'renamed.local', parent_id: domainId() });
    await eventually(async () => {
      expect(b.directory.domain('shared.local')).to.equal(undefined);
      expect(b.directory.domain('renamed.local')?.parentId).to.equal(domainId());
    });
    await domains.remove(id);
    await eventually(async () => expect(b.directory.domain('renamed.local')).to.equal(undefined));
  });

  it('share sessions, including their end and moves', async () => {
    const token = await tokenOf(a, 'admin');
    const seen = await sessionAt(b, token);
    expect(seen?.domain).to.equal('demo.local');
    const own = await sessionAt(a, token);
    if (own === undefined) throw new Error('The session is gone.');
    await a.iam.changeDomain(own, 'master');
    await eventually(async () => expect((await sessionAt(b, token))?.domain).to.equal('master'));
    await a.iam.logout(own.id);
    await eventually(async () => expect(await sessionAt(b, token)).to.equal(undefined));
  });

  it('apply changed roles and removed users to known sessions', async () => {
    const { users, roles } = a.iam.collections;
    await roles.create({ domain_id: domainId(), code: 'reader', grants: [{ path: '/x', methods: ['GET'] }] });
    const user = await users.create({ domain_id: domainId(), login: 'tmp', pwd: 'demo-tmp' });
    const token = await tokenOf(b, 'tmp');
    const allowed = async (): Promise<boolean> => {
      const session = await sessionAt(b, token);
      return session !== undefined && b.iam.allows(session, 'GET', '/x');
    };
    expect(await allowed()).to.equal(false);
    await users.update(user.id, { roles: ['reader'] });
    await eventually(async () => expect(await allowed()).to.equal(true));
    await users.remove(user.id);
    await eventually(async () => expect(await sessionAt(b, token)).to.equal(undefined));
  });

  it('share the count of failed logins', async () => {
    for (let failures = 0; failures < BAN_FAILURES; failures++) {
      expect(await logIn(failures % 2 === 0 ? a : b, 'alice', 'wrong', IP)).to.include({ reason: 'credentials' });
    }
    for (const node of [a, b])
      await eventually(async () =>
        expect(await logIn(node, 'alice', 'demo-alice', IP)).to.include({ reason: 'banned' }),
      );
    expect(await logIn(b, 'alice', 'demo-alice', '192.0.2.8')).to.include({ ok: true });
  });
});
