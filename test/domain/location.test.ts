import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { ContactBinding } from '../../runtime/domain/directory.ts';
import {
  type LiveDirectory,
  MAX_CONTACTS,
  type PersistentLocation,
  openDirectory,
  openLocation,
} from '../../runtime/domain/index.ts';
import type { Storage } from '../../runtime/storage/index.ts';
import { describeStorages, withStorage } from '../storage/support/storages.ts';

describeStorages('location service', (newPlace) => {
  const storage = withStorage(newPlace);
  let directory: LiveDirectory;
  let location: PersistentLocation;
  let now = 1_800_000_000_000;
  const clock = (): number => now;

  beforeEach(async () => {
    directory = await openDirectory(storage());
    const { id } = await directory.collections.domains.create({ name: 'demo.local' });
    for (const login of ['alice', 'bob']) {
      await directory.collections.sipusers.create({ id: login, domain_id: id, login, pwd: 'x' });
    }
    location = await openLocation(storage(), directory, clock);
  });
  afterEach(() => location.close());

  const binding = (contact: string, changes: Partial<ContactBinding> = {}): ContactBinding => ({
    sipUserId: 'alice',
    contact,
    callId: 'call-1',
    cseq: 4_000_000_000,
    source: { protocol: 'udp', address: '192.0.2.1', port: 5060 },
    expires: now + 60_000,
    userAgent: 'Phone "1"',
    allowEvents: ['talk', 'hold'],
    ...changes,
  });
  const uris = (of: PersistentLocation, sipUserId = 'alice') => of.contacts(sipUserId).map((entry) => entry.contact);
  const restarted = () => openLocation(storage(), directory, clock);

  it('keeps every field of a contact across a restart', async () => {
    const saved = binding('sip:alice@192.0.2.1:5060;transport=tcp', {
      source: { protocol: 'tcp', address: '2001:db8::1', port: 5061 },
    });
    await location.save(saved);
    await location.save(binding('sip:second', { userAgent: undefined, allowEvents: [] }));
    const again = await restarted();
    expect(again.contacts('alice')[1]).to.deep.include(saved);
    expect(again.contacts('alice')[0]).to.deep.include({ userAgent: undefined, allowEvents: [] });
    await again.close();
  });

  it('knows since when a contact is registered, also after renewals and a restart', async () => {
    const since = now;
    await location.save(binding('sip:a'));
    now += 10_000;
    await location.save(binding('sip:a', { expires: now + 60_000 }));
    const again = await restarted();
    for (const each of [location, again]) {
      expect([...each.registered()].map((contact) => [contact.since, contact.saved])).to.deep.equal([[since, now]]);
    }
    await again.close();
    now += 60_000;
    expect([...location.registered()], 'expired').to.deep.equal([]);
    await location.save(binding('sip:a', { expires: now + 60_000 }));
    expect([...location.registered()].map((each) => each.since)).to.deep.equal([now]);
  });

  it('renews a contact in place', async () => {
    await location.save(binding('sip:a'));
    await location.save(binding('sip:a', { cseq: 2, expires: now + 120_000 }));
    expect(location.count()).to.equal(1);
    const again = await restarted();
    expect(again.contacts('alice')).to.have.length(1);
    expect(again.contacts('alice')[0]).to.include({ cseq: 2, expires: now + 120_000 });
    await again.close();
  });

  it('removes contacts permanently', async () => {
    await Promise.all(['sip:a', 'sip:b', 'sip:c'].map((uri) => location.save(binding(uri))));
    await location.save(binding('sip:z', { sipUserId: 'bob' }));
    await location.remove('alice', 'sip:a');
    await location.remove('alice', 'sip:never was');
    expect(uris(location)).to.have.members(['sip:b', 'sip:c']);
    await location.removeAll('alice');
    await location.save(binding('sip:z', { sipUserId: 'bob', expires: now }));
    expect(location.count()).to.equal(0);
    const again = await restarted();
    expect(again.count()).to.equal(0);
    await again.close();
  });

  it(`keeps the ${MAX_CONTACTS} most recently renewed contacts of an account`, async () => {
    for (let n = 0; n < MAX_CONTACTS + 2; n++) {
      now += 1;
      await location.save(binding(`sip:${n}`));
      if (n === 4) await location.save(binding('sip:0'));
    }
    const kept = [11, 10, 9, 8, 7, 6, 5, 0, 4, 3].map((n) => `sip:${n}`);
    expect(uris(location)).to.deep.equal(kept);
    const again = await restarted();
    expect(uris(again)).to.have.members(kept);
    const rows = await storage().db.selectFrom('registrations').select('contact').execute();
    expect(rows).to.have.length(MAX_CONTACTS);
    await again.close();
  });

  it('neither returns nor reloads expired contacts', async () => {
    await location.save(binding('sip:short', { expires: now + 1_000 }));
    await location.save(binding('sip:long'));
    now += 1_000;
    expect(uris(location)).to.deep.equal(['sip:long']);
    const again = await restarted();
    expect(again.count()).to.equal(1);
    const { rows } = await sql<{ contact: string }>`select contact from registrations`.execute(storage().db);
    expect(rows).to.deep.equal([{ contact: 'sip:long' }]);
    await again.close();
  });

  it('drops expired contacts without a lookup', async () => {
    const real = await openLocation(storage(), directory);
    await real.save(binding('sip:short', { expires: Date.now() + 50 }));
    await real.save(binding('sip:long', { expires: Date.now() + 600_000 }));
    while (real.count() > 1) await delay(20);
    expect(uris(real)).to.deep.equal(['sip:long']);
    await real.close();
    const { rows } = await sql<{ contact: string }>`select contact from registrations`.execute(storage().db);
    expect(rows).to.deep.equal([{ contact: 'sip:long' }]);
  });

  it('drops the contacts of a removed account', async () => {
    await location.save(binding('sip:a'));
    await directory.collections.sipusers.remove('alice');
    expect(location.count()).to.equal(0);
    await location.save(binding('sip:late'));
    await location.save(binding('sip:b', { sipUserId: 'bob' }));
    const again = await restarted();
    expect(again.count()).to.equal(1);
    await again.close();
  });

  it('stores a storm of registrations in a few statements', async () => {
    let statements = 0;
    const counted: Storage = {
      ...storage(),
      db: storage().db.withPlugin({
        transformQuery: ({ node }) => {
          statements++;
          return node;
        },
        transformResult: ({ result }) => Promise.resolve(result),
      }),
    };
    const storm = await openLocation(counted, directory, clock);
    statements = 0;
    await Promise.all(Array.from({ length: 3_000 }, (_, n) => storm.save(binding(`sip:${n % 10}`, { cseq: n }))));
    expect(statements).to.be.at.most(2);
    const again = await restarted();
    expect(again.count()).to.equal(10);
    expect(Math.min(...again.contacts('alice').map((entry) => entry.cseq))).to.equal(2_990);
    await Promise.all([storm.close(), again.close()]);
  });
});
