import { expect } from 'chai';
import { ClaimedStarts } from '../../runtime/cluster/claimed-starts.ts';
import type { Storage } from '../../runtime/storage/index.ts';
import { describePostgres } from '../storage/support/storages.ts';

describePostgres('starts by schedule in a cluster', (newPlace) => {
  it('are made by one of the nodes that claim them at the same time, and remembered for an hour', async function () {
    this.timeout(60_000);
    const place = await newPlace();
    const storages: readonly Storage[] = [await place.open(), await place.open()];
    let now = 1_800_000_000_000;
    const nodes = storages.map((storage) => new ClaimedStarts(storage, () => now));
    const claims = (name: string) => Promise.all([...nodes, ...nodes].map((node) => node.claim(name)));
    for (const minute of [1, 2, 3])
      expect((await claims(`demo.local remind 0 ${minute}`)).filter(Boolean).length).to.equal(1);
    now += 3_599_999;
    expect(await claims('demo.local remind 0 1')).to.deep.equal([false, false, false, false]);
    now += 1;
    expect((await claims('demo.local other 0 1')).filter(Boolean).length).to.equal(1);
    expect(await storages[0]?.db.selectFrom('cluster_starts').select('name').execute()).to.deep.equal([
      { name: 'demo.local other 0 1' },
    ]);
    for (const storage of storages) await storage.close();
  });
});
