import { createHash } from 'node:crypto';
import { expect } from 'chai';
import {
  type Collections,
  DuplicateError,
  EntityInUseError,
  EntityNotFoundError,
  InvalidFieldError,
  createCollections,
} from '../../runtime/domain/index.ts';
import { describeStorages, failure, withStorage } from '../storage/support/storages.ts';

const hash = (algorithm: string, text: string): string => createHash(algorithm).update(text).digest('hex');

describeStorages('domain-center collections', (newPlace) => {
  const storage = withStorage(newPlace);
  let all: Collections;
  let domainId: string;

  beforeEach(async () => {
    all = createCollections(storage().db);
    domainId = (await all.domains.create({ name: 'demo.local' })).id;
  });

  const account = (fields: Record<string, unknown> = {}) => ({
    domain_id: domainId,
    login: 'alice',
    pwd: 'secret',
    ...fields,
  });

  const trunk = (fields: Record<string, unknown> = {}) => ({
    domain_id: domainId,
    code: 'carrier',
    host: 'sip.carrier.example',
    ...fields,
  });
  const script = (scriptdata: unknown) => ({ domain_id: domainId, code: 'x', scriptdata });

  it('set id, defaults and times, and keep a given id', async () => {
    const made = await all.domains.create({ name: 'child.local', parent_id: domainId, opts: { title: 'Child' } });
    expect(made.id).to.match(/^[0-9a-f-]{36}$/);
    expect(made).to.deep.include({
      is_master: false,
      parent_id: domainId,
      opts: { title: 'Child' },
      lic: {},
      security: {},
    });
    const { ct, lwt } = made.ext as { ct: string; lwt: string };
    expect(new Date(ct).toISOString()).to.equal(ct);
    expect(lwt).to.equal(ct);
    expect((await all.domains.create({ id: 'own-id', name: 'own.local' })).id).to.equal('own-id');
  });

  it('store digests of a sipuser secret, never the secret', async () => {
    const made = await all.sipusers.create(account({ phonenumber: '101' }));
    expect(made.ha1_md5).to.equal(hash('md5', 'alice:demo.local:secret'));
    expect(made.ha1_sha256).to.equal(hash('sha256', 'alice:demo.local:secret'));
    expect(JSON.stringify(await all.sipusers.list()))
      .not.to.include('"secret"')
      .and.not.to.include('pwd');
  });

  it('require the secret again after a change of login or domain', async () => {
    const { id } = await all.sipusers.create(account());
    const error = await failure(all.sipusers.update(id, { login: 'alicia' }));
    expect(error).to.be.instanceOf(InvalidFieldError).and.include({ field: 'pwd' });
    const renamed = await all.sipusers.update(id, { login: 'alicia', pwd: 'new' });
    expect(renamed.ha1_md5).to.equal(hash('md5', 'alicia:demo.local:new'));
    const named = await all.sipusers.update(id, { name: 'Alicia' });
    expect(named.ha1_md5).to.equal(renamed.ha1_md5);
  });

  it('store the password of a trunk for the digest client, until it is replaced', async () => {
    const made = await all.providers.create(trunk({ pwd: 'trunk', register: 'outbound', login: '4930' }));
    expect(made).to.deep.include({ secret: 'trunk', port: 5060, transport: 'udp', enabled: true, numbers: [] });
    expect((await all.providers.update(made.id, { name: 'Carrier' })).secret).to.equal('trunk');
    expect((await all.providers.update(made.id, { pwd: 'new' })).secret).to.equal('new');
  });

  it('remove the recording rules of a removed account, and refuse those of a foreign one', async () => {
    const { id: sipuser_id } = await all.sipusers.create(account());
    const rule = await all.recordingrules.create({ domain_id: domainId, sipuser_id });
    expect(rule).to.deep.include({ direction: 'any', number_pattern: '%', record: true, permit_pause: true });
    const other = await all.domains.create({ name: 'other.local' });
    const foreign = await failure(all.recordingrules.create({ domain_id: other.id, sipuser_id }));
    expect(foreign).to.be.instanceOf(InvalidFieldError).and.include({ field: 'sipuser_id' });
    await all.sipusers.remove(sipuser_id);
    expect(await all.recordingrules.list()).to.deep.equal([]);
  });

  it('create a list completely or not at all', async () => {
    const made = await all.domains.createAll([
      { id: 'b', name: 'b.local', parent_id: 'a' },
      { id: 'a', name: 'a.local' },
    ]);
    expect(made.map(({ id }) => id)).to.deep.equal(['b', 'a']);
    const refused = await failure(all.domains.createAll([{ name: 'c.local' }, { name: 'c d' }]));
    expect(refused).to.be.instanceOf(InvalidFieldError).and.include({ field: '1.name' });
    const doubled = await failure(all.domains.createAll([{ name: 'c.local' }, { name: 'A.local' }]));
    expect(doubled).to.be.instanceOf(DuplicateError).and.include({ field: '1.name' });
    expect((await all.domains.list()).map(({ name }) => name)).to.have.members(['demo.local', 'a.local', 'b.local']);
  });

  it('omit null keys of a new composite', async () => {
    const made = await all.domains.create({ name: 'new.local', opts: { a: null, b: 'null', c: { d: null } } });
    expect(made.opts).to.deep.equal({ c: { d: null } });
  });

  it('merge composite fields by first-level keys; null and the text null remove one', async () => {
    const { id } = await all.sipusers.create(account({ opts: { a: 1, b: { deep: 1, other: 2 }, c: 3, d: 4 } }));
    const changed = await all.sipusers.update(id, { opts: { a: null, b: { deep: 5 }, d: 'null', e: [] } });
    expect(changed.opts).to.deep.equal({ b: { deep: 5 }, c: 3, e: [] });
  });

  it('keep the creation time, update the last write, and accept neither from the caller', async () => {
    const before = await all.routes.create({
      domain_id: domainId,
      to_pattern: '1',
      target: { type: 'reject', status: 486 },
      ext: { ct: 'x', mine: 1 },
    });
    const after = await all.routes.update(before.id, { priority: 5, ext: { lwt: 'y', ct: null } });
    expect(after.ext).to.deep.include({ ct: before.ext['ct'], mine: 1 });
    expect(String(after.ext['lwt']) >= String(before.ext['lwt'])).to.equal(true);
    expect(after.priority).to.equal(5);
  });

  const invalid: readonly [
    title: string,
    what: keyof Collections,
    fields: () => Record<string, unknown>,
    field: string,
  ][] = [
    ['a missing field', 'domains', () => ({}), 'name'],
    ['an unknown field', 'domains', () => ({ name: 'x.local', nmae: 'y' }), 'nmae'],
    ['a name that is no host', 'domains', () => ({ name: 'not a host' }), 'name'],
    ['a wrong type', 'domains', () => ({ name: 'x.local', is_master: 'yes' }), 'is_master'],
    ['a composite that is none', 'domains', () => ({ name: 'x.local', opts: [] }), 'opts'],
    ['an empty secret', 'sipusers', () => account({ pwd: '' }), 'pwd'],
    ['a trunk without a host', 'providers', () => ({ domain_id: domainId, code: 'x' }), 'host'],
    ['a trunk address that is none', 'providers', () => trunk({ addresses: ['10.0.0.0/40'] }), 'addresses'],
    ['a registration without a login', 'providers', () => trunk({ register: 'outbound' }), 'login'],
    ['a port beyond all ports', 'providers', () => trunk({ port: 70_000 }), 'port'],
    ['an unknown mapping', 'providers', () => trunk({ mapping: { sideways: [] } }), 'mapping'],
    ['a rule about nobody', 'recordingrules', () => ({ domain_id: domainId, sipuser_id: 'nobody' }), 'sipuser_id'],
    ['a script of another kind', 'ivrscripts', () => script({ format: 'lua', source: 'x' }), 'scriptdata'],
    ['a script without text', 'svcscripts', () => script({ format: 'js', source: '' }), 'scriptdata'],
    [
      'a role that is none',
      'webapps',
      () => ({ domain_id: domainId, name: 'x', url: '/', roles: ['nobody'] }),
      'roles',
    ],
    [
      'a setting of the wrong shape',
      'settings',
      () => ({ domain_id: domainId, key: 'record_asr_options', value: 'on' }),
      'value',
    ],
    ['a login that breaks digests', 'sipusers', () => account({ login: 'a:b' }), 'login'],
    ['a number that cannot be dialled', 'sipusers', () => account({ phonenumber: '12 34' }), 'phonenumber'],
    ['a domain that does not exist', 'sipusers', () => account({ domain_id: 'nowhere' }), 'domain_id'],
    ['an owner that does not exist', 'sipusers', () => account({ user_id: 'nobody' }), 'user_id'],
    [
      'an option of the wrong type',
      'featurecodes',
      () => ({ domain_id: domainId, prefix: '*1', type: 'conference', opts: { pin: 'secret' } }),
      'opts',
    ],
    ['an unknown type', 'featurecodes', () => ({ domain_id: domainId, prefix: '*1', type: 'magic' }), 'type'],
    [
      'a status that is no failure',
      'routes',
      () => ({ domain_id: domainId, to_pattern: '1', target: { type: 'reject', status: 200 } }),
      'target',
    ],
    ['a control character', 'sipusers', () => account({ name: 'a\nb' }), 'name'],
    ['a NUL', 'sipusers', () => account({ name: 'a\0b' }), 'name'],
  ];
  for (const [title, what, fields, field] of invalid) {
    it(`refuse ${title} and name ${field}`, async () => {
      const error = await failure(all[what].create(fields()));
      expect(error).to.be.instanceOf(InvalidFieldError);
      expect((error as InvalidFieldError).field.split('.')[0]).to.equal(field);
    });
  }

  it('do not reveal a refused secret', async () => {
    const error = await failure(all.sipusers.create(account({ pwd: 'x'.repeat(2_000) })));
    expect(error).to.include({ field: 'pwd', found: undefined });
    expect(error.message).not.to.include('xxx');
  });

  it('refuse a duplicate of a unique value, and name the field', async () => {
    await all.sipusers.create(account({ id: 'one', phonenumber: '101' }));
    const cases = [
      [account({ id: 'one', login: 'b' }), 'id'],
      [account(), 'login'],
      [account({ login: 'bob', phonenumber: '101' }), 'phonenumber'],
    ] as const;
    for (const [fields, field] of cases) {
      expect(await failure(all.sipusers.create(fields)))
        .to.be.instanceOf(DuplicateError)
        .and.include({ entity: 'sipuser', field });
    }
    expect(await failure(all.domains.create({ name: 'DEMO.local' })))
      .to.be.instanceOf(DuplicateError)
      .and.include({ field: 'name' });
    await all.domains.create({ name: 'master', is_master: true });
    expect(await failure(all.domains.create({ name: 'm2', is_master: true }))).to.include({ field: 'is_master' });
  });

  it('allow many accounts without a number', async () => {
    await all.sipusers.create(account({ login: 'a' }));
    await all.sipusers.create(account({ login: 'b' }));
    expect(await all.sipusers.list()).to.have.length(2);
  });

  it('refuse a changed id', async () => {
    const error = await failure(all.domains.update(domainId, { id: 'other' }));
    expect(error).to.be.instanceOf(InvalidFieldError).and.include({ field: 'id' });
  });

  it('refuse to rename a domain with hashed account secrets', async () => {
    await all.domains.update(domainId, { name: 'renamed.local' });
    await all.sipusers.create(account());
    const error = await failure(all.domains.update(domainId, { name: 'again.local' }));
    expect(error).to.be.instanceOf(InvalidFieldError).and.include({ field: 'name' });
  });

  it('refuse to remove referenced entities, and report missing ones', async () => {
    const { id } = await all.sipusers.create(account());
    expect(await failure(all.domains.remove(domainId))).to.be.instanceOf(EntityInUseError);
    await all.sipusers.remove(id);
    await all.domains.remove(domainId);
    expect(await failure(all.domains.remove(domainId))).to.be.instanceOf(EntityNotFoundError);
    expect(await failure(all.sipusers.update(id, { name: 'x' }))).to.be.instanceOf(EntityNotFoundError);
    expect(await all.sipusers.get(id)).to.equal(undefined);
  });

  it('lose no concurrent change of another key', async () => {
    const { id } = await all.sipusers.create(account());
    const keys = ['a', 'b', 'c', 'd', 'e'];
    // As from several nodes: each has its own collection object.
    const writes = keys.map((key) => createCollections(storage().db).sipusers.update(id, { opts: { [key]: 1 } }));
    await Promise.all(writes);
    expect((await all.sipusers.get(id))?.opts).to.have.all.keys(keys);
  });
});
