import { expect } from 'chai';
import { type Collections, createCollections, StoredSubscriptions } from '../../runtime/domain/index.ts';
import { describeStorages, withStorage } from '../storage/support/storages.ts';

describeStorages('stored subscriptions', (newPlace) => {
  const storage = withStorage(newPlace);
  let all: Collections;
  let sipUserId: string;

  beforeEach(async () => {
    all = createCollections(storage().db);
    const { id: domain_id } = await all.domains.create({ name: 'demo.local' });
    const bob = { domain_id, login: 'bob', pwd: 'secret', phonenumber: '102' };
    ({ id: sipUserId } = await all.sipusers.create(bob));
  });

  const later = (): number => Date.now() + 60_000;

  it('are there at the next start of their node, until they are removed or have expired', async () => {
    const store = new StoredSubscriptions(storage(), 'node-1');
    const kept = { id: 'a', sipUserId, expires: later(), data: { event: 'dialog' } };
    store.save({ ...kept, expires: later() - 1000 });
    store.save(kept);
    store.save({ ...kept, id: 'b' });
    store.remove('b');
    store.save({ ...kept, id: 'c', expires: Date.now() - 1 });
    await store.close();
    expect(await new StoredSubscriptions(storage(), 'node-1').load()).to.deep.equal([kept]);
    expect(await new StoredSubscriptions(storage(), 'node-2').load()).to.deep.equal([]);
  });

  it('are taken over by one of several nodes, and given back', async () => {
    const dead = new StoredSubscriptions(storage(), 'dead');
    const row = { id: 'a', sipUserId, expires: later(), data: { event: 'dialog' } };
    dead.save(row);
    await dead.close();
    const others = ['node-1', 'node-2', 'node-3'].map((node) => new StoredSubscriptions(storage(), node));
    const taken = await Promise.all(others.map((store) => store.take(['dead'])));
    expect(taken.flat()).to.deep.equal([row]);
    for (const store of others) await store.give(['a'], 'dead');
    expect(await new StoredSubscriptions(storage(), 'new', ['dead']).load()).to.deep.equal([row]);
    expect(await dead.load()).to.deep.equal([]);
  });

  it('go with their sipuser, and are not stored for a removed one', async () => {
    const store = new StoredSubscriptions(storage(), 'node-1');
    store.save({ id: 'a', sipUserId, expires: later(), data: {} });
    await store.close();
    await all.sipusers.remove(sipUserId);
    const again = new StoredSubscriptions(storage(), 'node-1');
    again.save({ id: 'b', sipUserId, expires: later(), data: {} });
    await again.close();
    expect(await again.load()).to.deep.equal([]);
  });
});
