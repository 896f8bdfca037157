import { expect } from 'chai';
import { type Collections, createCollections, StoredAgents } from '../../runtime/domain/index.ts';
import { describeStorages, withStorage } from '../storage/support/storages.ts';

describeStorages('stored agents of queues', (newPlace) => {
  const storage = withStorage(newPlace);
  let all: Collections;
  let domain_id: string;

  beforeEach(async () => {
    all = createCollections(storage().db);
    domain_id = (await all.domains.create({ name: 'demo.local' })).id;
  });

  it('are there at the next start with their last settings, until they are removed', async () => {
    const agents = new StoredAgents(storage());
    const first = { domain_id, number: '102', state: 'ready', queues: ['support'], skills: [] } as const;
    await agents.save(first, first);
    const last = { ...first, state: 'away', skills: ['german'] } as const;
    await agents.save(first, last);
    await agents.save({ domain_id, number: '103' }, { ...first, number: '103' });
    await agents.save({ domain_id, number: '103' }, undefined);
    await agents.close();
    expect(await new StoredAgents(storage()).load()).to.deep.equal([last]);
  });

  it('are removed with their domain, and not stored for a removed one', async () => {
    const agents = new StoredAgents(storage());
    const row = { domain_id, number: '102', state: 'ready', queues: [], skills: [] } as const;
    await agents.save(row, row);
    await all.domains.remove(domain_id);
    await agents.save(row, row);
    await agents.close();
    expect(await agents.load()).to.deep.equal([]);
  });
});
