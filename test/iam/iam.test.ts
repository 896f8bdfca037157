import { createHook } from 'node:async_hooks';
import { expect } from 'chai';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { InvalidFieldError, type LiveDirectory, openDirectory } from '../../runtime/domain/index.ts';
import {
  type Credentials,
  type IamService,
  SESSION_LIMITS,
  createDemoData,
  createIam,
} from '../../runtime/iam/index.ts';
import type { Session } from '../../runtime/iam/iam.ts';
import { describeStorages, failure, withStorage } from '../storage/support/storages.ts';
import { eventually } from '../support/eventually.ts';

const IP = '192.0.2.1';
const ALICE: Credentials = { domain: 'demo.local', login: 'alice', pwd: 'demo-alice' };
const ADMIN: Credentials = { domain: 'demo.local', login: 'admin', pwd: 'demo-admin' };

describeStorages('iam', (newPlace) => {
  const storage = withStorage(newPlace);
  let directory: LiveDirectory;
  let iam: IamService;
  let now = Date.now();
  const clock = (): number => now;
  const restart = () => createIam(storage(), directory, { now: clock });

  beforeEach(async () => {
    await createDemoData(storage());
    directory = await openDirectory(storage());
    iam = await restart();
  });
  afterEach(() => iam.close());

  async function logIn(
    credentials = ALICE,
    kind: Session['kind'] = 'token',
  ): Promise<{ session: Session; token: string }> {
    const result = await iam.login(credentials, kind, IP);
    if (!result.ok) throw new Error(result.reason);
    return result;
  }
  const sessionOf = async (service: IamService, token: string, ip = IP): Promise<Session | undefined> => {
    const result = await service.authenticate(token, ip);
    return result.ok ? result.session : undefined;
  };

  it('a login opens a session with user and domain', async () => {
    const { session, token } = await logIn();
    expect(session).to.deep.include({
      login: 'alice',
      name: 'Alice',
      domain: 'demo.local',
      domainIsMaster: false,
      roles: ['user'],
      kind: 'token',
      expires: now + SESSION_LIMITS.idleMs,
    });
    expect(directory.sipUsersOfUser(session.userId).map((sipuser) => sipuser.phonenumber)).to.deep.equal(['101']);
    expect(await sessionOf(iam, token)).to.deep.equal(session);
  });

  it('users without a password cannot log in, and unknown roles are refused', async () => {
    const { users } = iam.collections;
    const domain_id = directory.domain('demo.local')?.id;
    const { id } = await users.create({ domain_id, login: 'new' });
    const credentials = { domain: 'demo.local', login: 'new', pwd: '' };
    expect(await iam.login(credentials, 'token', IP)).to.include({ ok: false });
    await users.update(id, { pwd: 'first', roles: ['user'] });
    expect(await iam.login({ ...credentials, pwd: 'first' }, 'token', IP)).to.include({ ok: true });
    const unknown = await failure(users.update(id, { roles: ['user', 'nobody'] }));
    expect(unknown).to.be.instanceOf(InvalidFieldError).and.include({ field: 'roles.1' });
  });

  it('login ignores the case of the domain, not of the login', async () => {
    expect((await iam.login({ ...ALICE, domain: 'DEMO.Local' }, 'cookie', IP)).ok).to.equal(true);
    expect((await iam.login({ ...ALICE, login: 'Alice' }, 'cookie', IP)).ok).to.equal(false);
  });

  it('wrong domain, login and password get the same answer, also when oversized or malformed', async () => {
    const wrong: readonly Credentials[] = [
      { ...ALICE, domain: 'nowhere.local' },
      { ...ALICE, login: 'nobody' },
      { ...ALICE, pwd: 'wrong' },
      { ...ALICE, pwd: `demo-alice${'x'.repeat(100_000)}` },
      { domain: "'; drop table users; --", login: 'a\0b', pwd: '\uD800' },
    ];
    for (const [index, credentials] of wrong.entries()) {
      const result = await iam.login(credentials, 'token', `192.0.2.${100 + index}`);
      expect(result).to.deep.equal({ ok: false, reason: 'credentials' });
    }
  });

  it('wrong domain, login and password cost one password hash each', async () => {
    const wrong: readonly Credentials[] = [
      { ...ALICE, domain: 'nowhere.local' },
      { ...ALICE, login: 'nobody' },
      { ...ALICE, pwd: 'wrong' },
    ];
    // Counted, not timed: the hash is nearly all of a login's time, and times vary with the machine's load.
    let hashes = 0;
    const hook = createHook({
      init(_id, type) {
        if (type === 'ARGON2REQUEST') hashes += 1;
      },
    }).enable();
    try {
      for (const credentials of wrong) {
        hashes = 0;
        await iam.login(credentials, 'token', IP);
        expect(hashes, `${credentials.domain} ${credentials.login}`).to.equal(1);
      }
    } finally {
      hook.disable();
    }
  });

  it('five failures ban an address, also for right credentials, and no other address', async () => {
    for (let n = 0; n < 5; n++) await iam.login({ ...ALICE, pwd: 'wrong' }, 'token', IP);
    const banned = await iam.login(ALICE, 'token', IP);
    expect(banned).to.deep.equal({ ok: false, reason: 'banned', retryAfterSeconds: 180 });
    expect((await iam.login(ALICE, 'token', '192.0.2.2')).ok).to.equal(true);
    now += 180_000;
    expect((await iam.login(ALICE, 'token', IP)).ok).to.equal(true);
  });

  it('unknown session ids count as failures; a live session works from a banned address', async () => {
    const { token, session } = await logIn();
    const forged = Array.from({ length: 5 }, (_, n) => `${'A'.repeat(42)}${n}`);
    for (const secret of [...forged.slice(0, 3), 'short', '']) {
      expect(await iam.authenticate(secret, IP)).to.deep.equal({ ok: false, reason: 'unknown' });
    }
    expect(await iam.authenticate(forged[4] ?? '', IP)).to.deep.equal({
      ok: false,
      reason: 'banned',
      retryAfterSeconds: 180,
    });
    expect((await iam.login(ALICE, 'token', IP)).ok).to.equal(false);
    expect(await sessionOf(iam, token)).to.deep.equal(session);
  });

  it('sessions survive a restart, without storing secrets', async () => {
    const { token, session } = await logIn(ALICE, 'cookie');
    const again = await restart();
    expect(await sessionOf(again, token)).to.deep.equal(session);
    await again.close();
    const rows = await storage().db.selectFrom('sessions').selectAll().execute();
    expect(JSON.stringify(rows)).not.to.include(token);
    const users = await storage().db.selectFrom('users').selectAll().execute();
    expect(JSON.stringify(users)).not.to.include('demo-alice');
  });

  it('a logout ends a session, also after a restart, and its further use is not an attack', async () => {
    const { token, session } = await logIn();
    await iam.logout(session.id);
    await iam.logout(session.id);
    await iam.logout('never was');
    for (let n = 0; n < 8; n++)
      expect(await iam.authenticate(token, IP)).to.deep.equal({ ok: false, reason: 'unknown' });
    const again = await restart();
    expect(await sessionOf(again, token)).to.equal(undefined);
    await again.close();
  });

  it('a session expires a day after its last use, in memory and in the database', async () => {
    const { token } = await logIn();
    now += SESSION_LIMITS.idleMs - 1;
    expect((await sessionOf(iam, token))?.expires).to.equal(now + SESSION_LIMITS.idleMs);
    await iam.close();
    const again = await restart();
    now += SESSION_LIMITS.idleMs - 1;
    expect(await sessionOf(again, token)).not.to.equal(undefined);
    now += SESSION_LIMITS.idleMs;
    expect(await sessionOf(again, token)).to.equal(undefined);
    await again.close();
  });

  it('idle and total lifetimes of sessions follow the settings', async () => {
    const minute = 60_000;
    const limited = (lifetimeMs: number) =>
      createIam(storage(), directory, { now: clock, sessionLimits: { idleMs: 10 * minute, lifetimeMs } });
    const storedExpiry = async (id: string) =>
      (await storage().db.selectFrom('sessions').select('expires').where('id', '=', id).executeTakeFirst())?.expires;
    const short = await limited(25 * minute);
    const opened = await short.login(ALICE, 'token', IP);
    const idle = await short.login(ALICE, 'token', IP);
    if (!opened.ok || !idle.ok) throw new Error('no session');
    expect(opened.session.expires).to.equal(now + 10 * minute);
    for (let n = 0; n < 3; n++) {
      now += 8 * minute;
      const used = await sessionOf(short, opened.token);
      expect(used, `after ${n}`).not.to.equal(undefined);
      // The clock of the test is faster than the write that no request waits for.
      await eventually(async () => expect(await storedExpiry(opened.session.id)).to.equal(used?.expires));
    }
    expect((await sessionOf(short, opened.token))?.expires).to.equal(now + minute);
    expect(await sessionOf(short, idle.token)).to.equal(undefined);
    now += minute;
    expect(await sessionOf(short, opened.token)).to.equal(undefined);
    const next = await short.login(ALICE, 'token', IP);
    if (!next.ok) throw new Error('no session');
    await short.close();
    // A shorter lifetime counts for sessions that are there.
    const shorter = await limited(minute);
    now += 2 * minute;
    expect(await sessionOf(shorter, next.token)).to.equal(undefined);
    expect(await shorter.accounts.sessionsOf(next.session.userId)).to.deep.equal([]);
    await shorter.close();
  });

  it('sessions that ended more than a day ago are deleted', async () => {
    await logIn();
    now += SESSION_LIMITS.idleMs * 2 + 1;
    await (await restart()).close();
    expect(await storage().db.selectFrom('sessions').selectAll().execute()).to.deep.equal([]);
  });

  it('a clone of a session ends with the lifetime of its login', async () => {
    const hour = 3_600_000;
    const limited = await createIam(storage(), directory, {
      now: clock,
      sessionLimits: { idleMs: hour, lifetimeMs: 2 * hour },
    });
    try {
      const login = await limited.login(ALICE, 'cookie', IP);
      if (!login.ok) throw new Error(login.reason);
      now += hour - 1;
      expect(await sessionOf(limited, login.token)).to.include({ kind: 'cookie' });
      now += hour - 1;
      const clone = await limited.cloneToToken(login.session);
      expect(await sessionOf(limited, clone.token)).to.include({ kind: 'token' });
      now += 2;
      expect(await sessionOf(limited, clone.token)).to.equal(undefined);
    } finally {
      await limited.close();
    }
  });

  it('a changed password ends logins with the old one that are not answered yet', async () => {
    const { session } = await logIn();
    const { users } = iam.collections;
    const changes = [
      () => iam.changePassword(session, { old: 'demo-alice', pwd: 'second' }, IP),
      async () => {
        await users.update(session.userId, { pwd: 'third' });
        await iam.accounts.endSessions(session.userId);
      },
    ];
    for (const [index, change] of changes.entries()) {
      const old = { ...ALICE, pwd: index === 0 ? 'demo-alice' : 'second' };
      const tokens: string[] = [];
      const keepLoggingIn = async (): Promise<void> => {
        for (;;) {
          const login = await iam.login(old, 'token', `192.0.2.${7 + index}`);
          if (!login.ok) return;
          tokens.push(login.token);
        }
      };
      const logins = Array.from({ length: 4 }, keepLoggingIn);
      await eventually(async () => expect(tokens).not.to.deep.equal([]));
      await change();
      await Promise.all(logins);
      const live = await Promise.all(tokens.map((token) => sessionOf(iam, token)));
      expect(live.filter((each) => each !== undefined)).to.deep.equal([]);
    }
  });

  it('a cookie session is cloned to a token session', async () => {
    const { session } = await logIn(ALICE, 'cookie');
    const clone = await iam.cloneToToken(session);
    expect(clone.session).to.deep.include({ login: 'alice', domain: 'demo.local', kind: 'token' });
    await iam.logout(session.id);
    expect(await sessionOf(iam, clone.token)).to.deep.equal(clone.session);
  });

  it('demo users access their own data, and none of the domain', async () => {
    const { session } = await logIn();
    for (const [method, path] of [
      ['INVITE', '/user/sip/calls'],
      ['DELETE', '/user/sip/calls/id'],
      ['GET', '/user/sip/operations'],
      ['GET', '/user/info'],
      ['POST', '/uc/conferences_by_participation/id/participants'],
    ] as const)
      expect(iam.allows(session, method, path), path).to.equal(true);
    const admin = (await logIn(ADMIN)).session;
    for (const [method, path] of [
      ['GET', '/uc/calls'],
      ['INVITE', '/uc/calls'],
      ['DELETE', '/uc/calls/id'],
      ['GET', '/uc/operations'],
      ['GET', '/uc/conferences'],
      ['GET', '/domain/sipusers'],
    ] as const) {
      expect(iam.allows(session, method, path), path).to.equal(false);
      expect(iam.allows(admin, method, path), path).to.equal(true);
    }
  });

  it('the administrator logs in to the home and master domains, and changes between them', async () => {
    const { session, token } = await logIn(ADMIN);
    expect(iam.allows(session, 'SETUP', '/model/x')).to.equal(true);
    expect(await iam.reachableDomains(session)).to.deep.equal([
      { domain: 'demo.local', is_master: false },
      { domain: 'master', is_master: true },
    ]);
    const changed = await iam.changeDomain(session, 'master');
    expect(changed).to.deep.include({ id: session.id, domain: 'master', domainIsMaster: true });
    expect(await sessionOf(iam, token)).to.deep.equal(changed);
    expect((await logIn({ ...ADMIN, domain: 'master' })).session.domain).to.equal('master');
    expect(await iam.changeDomain((await logIn()).session, 'master')).to.equal(undefined);
    expect((await iam.login({ ...ALICE, domain: 'master' }, 'token', IP)).ok).to.equal(false);
  });

  it('only an administrator may change to the domains below', async () => {
    const demo = directory.domain('demo.local')?.id ?? '';
    const { domains } = directory.collections;
    const child = await domains.create({ name: 'child.local', parent_id: demo });
    const grandchild = await domains.create({ name: 'grandchild.local', parent_id: child.id });
    const beside = await domains.create({ name: 'beside.local' });
    const names = async ({ session }: { session: Session }): Promise<readonly string[]> =>
      (await iam.reachableDomains(session)).map(({ domain }) => domain);
    const boss = await iam.collections.users.create({
      domain_id: demo,
      login: 'boss',
      pwd: 'demo-boss',
      roles: ['admin'],
    });
    const boss1 = await logIn({ ...ALICE, login: 'boss', pwd: 'demo-boss' });
    expect(await names(boss1)).to.deep.equal(['demo.local', 'child.local', 'grandchild.local']);
    expect(await iam.changeDomain(boss1.session, 'grandchild.local')).to.deep.include({ domain: 'grandchild.local' });
    expect(await sessionOf(iam, boss1.token)).to.deep.include({ domain: 'grandchild.local' });
    expect(await iam.changeDomain(boss1.session, 'beside.local')).to.equal(undefined);
    expect(await iam.changeDomain(boss1.session, 'master')).to.equal(undefined);
    const alice = await logIn();
    expect(await names(alice)).to.deep.equal(['demo.local']);
    expect(await iam.changeDomain(alice.session, 'child.local')).to.equal(undefined);
    // The settings of all domains are seen from the master domain; it is not above them.
    expect(await names(await logIn(ADMIN))).to.deep.equal(['demo.local', 'master', 'child.local', 'grandchild.local']);
    // The tree changes, and with it what is below: the session of the grandchild is out of reach, and back again.
    await domains.update(child.id, { parent_id: beside.id });
    expect(await sessionOf(iam, boss1.token)).to.equal(undefined);
    await domains.update(child.id, { parent_id: demo });
    expect(await sessionOf(iam, boss1.token)).to.deep.include({ domain: 'grandchild.local' });
    await iam.collections.users.update(boss.id, { roles: [] });
    expect(await sessionOf(iam, boss1.token)).to.equal(undefined);
    expect(grandchild.parent_id).to.equal(child.id);
  });

  it('a session loses its rights in a domain when its user loses the domain', async () => {
    const { session, token } = await logIn(ADMIN);
    await iam.changeDomain(session, 'master');
    const seen: (string | undefined)[] = [];
    iam.watch(session, (changed) => void seen.push(changed?.domain));
    await iam.collections.users.update(session.userId, { domains: [] });
    expect(await sessionOf(iam, token)).to.equal(undefined);
    expect(seen).to.deep.equal([undefined]);
    // It is no attack: nobody is banned for it.
    for (let n = 0; n < 6; n += 1) await sessionOf(iam, token);
    expect((await iam.login(ALICE, 'token', IP)).ok).to.equal(true);
  });

  it('changes of users and roles apply to the next request', async () => {
    const { session, token } = await logIn();
    const [role] = await iam.collections.roles.list();
    expect(iam.allows(session, 'GET', '/uc/conferences_by_participation')).to.equal(true);
    await iam.collections.roles.update(role?.id ?? '', { grants: [{ path: '/domain/**', methods: ['GET'] }] });
    expect(iam.allows(session, 'GET', '/domain/users')).to.equal(true);
    expect(iam.allows(session, 'GET', '/uc/conferences_by_participation')).to.equal(false);
    await iam.collections.users.update(session.userId, { name: 'Alice B.', roles: ['admin'], pwd: 'new' });
    expect(await sessionOf(iam, token))
      .to.include({ name: 'Alice B.' })
      .and.deep.include({ roles: ['admin'] });
    expect((await iam.login({ ...ALICE, pwd: 'new' }, 'token', IP)).ok).to.equal(true);
    expect((await iam.login(ALICE, 'token', IP)).ok).to.equal(false);
    await iam.collections.users.remove(session.userId);
    expect(await sessionOf(iam, token)).to.equal(undefined);
    expect(directory.sipUserByLogin(asDomainName('demo.local'), 'alice')?.userId).to.equal(undefined);
  });

  it('known, ended and, from banned addresses, unknown sessions need no database query', async () => {
    const { token } = await logIn();
    const ended = await logIn();
    await iam.logout(ended.session.id);
    for (let n = 0; n < 5; n++) await iam.authenticate('A'.repeat(43), '192.0.2.9');
    let statements = 0;
    const { db } = storage();
    const counted = db.withPlugin({
      transformQuery({ node }) {
        statements++;
        return node;
      },
      transformResult: ({ result }) => Promise.resolve(result),
    });
    const counting = await createIam({ ...storage(), db: counted }, directory, { now: clock });
    for (let n = 0; n < 5; n++) await counting.authenticate('A'.repeat(43), '192.0.2.9');
    statements = 0;
    for (let n = 0; n < 1_000; n++) {
      expect((await counting.authenticate(token, IP)).ok).to.equal(true);
      expect((await counting.authenticate(ended.token, IP)).ok).to.equal(false);
      expect((await counting.authenticate('B'.repeat(43), '192.0.2.9')).ok).to.equal(false);
    }
    expect(statements).to.equal(0);
    await counting.close();
  });
});
