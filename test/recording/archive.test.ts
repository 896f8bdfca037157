import { expect } from 'chai';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { RecordArchive } from '../../runtime/recording/index.ts';
import { describeStorages, failure, withStorage } from '../storage/support/storages.ts';
import { recordRow } from './support/rows.ts';

describeStorages('archive of recordings', (newPlace) => {
  const storage = withStorage(newPlace);
  let archive: RecordArchive;

  beforeEach(() => {
    archive = new RecordArchive(storage());
  });

  const DOMAINS = ['d1'];

  it('stores the outcome of a recording', async () => {
    const row = recordRow({});
    await archive.add(row);
    expect(await archive.read(row.id)).to.deep.equal(row);
    const end = {
      status: 'saved',
      reason: '',
      endts: 1_790_000_005_000,
      length: 5000,
      size: 80_044,
      sha256: 'ab',
      reclink: `fs://main/one.local/2026/11/21/${row.id}.wav`,
    } as const;
    await archive.finish(row.id, end);
    expect(await archive.read(row.id)).to.deep.equal({ ...row, ...end });
    expect((await archive.find(asDomainName('ONE.local'), row.idconn, end.reclink))?.id).to.equal(row.id);
    expect(await archive.find(asDomainName('two.local'), row.idconn, end.reclink)).to.equal(undefined);
    expect((await archive.findByLink(asDomainName('one.local'), end.reclink))?.id).to.equal(row.id);
    expect(await archive.findByLink(asDomainName('one.local'), 'fs://main/other.wav')).to.equal(undefined);
    await archive.remove(row.id);
    expect(await archive.read(row.id)).to.equal(undefined);
  });

  it('lists visible recordings, newest first, by filter, order and page', async () => {
    const rows = [1000, 3000, 2000].map((startts) =>
      recordRow({ startts, status: startts > 1000 ? 'saved' : 'failed' }),
    );
    for (const row of [...rows, recordRow({ domain_id: 'd2', startts: 9000 })]) await archive.add(row);
    const times = async (query: object): Promise<number[]> =>
      (await archive.list({ domains: DOMAINS, ...query })).map(({ startts }) => startts);
    expect(await times({})).to.deep.equal([3000, 2000, 1000]);
    expect(await times({ order: ['startts'] })).to.deep.equal([1000, 2000, 3000]);
    expect(await times({ offset: 1, limit: 1 })).to.deep.equal([2000]);
    expect(await times({ filter: { status: 'saved' } })).to.deep.equal([3000, 2000]);
    expect(await times({ filter: { startts: '~2000' } })).to.deep.equal([2000, 1000]);
    expect(
      await times({ filter: ['&&', ['==', ['property', 'status'], 'saved'], ['<', ['property', 'startts'], 2500]] }),
    ).to.deep.equal([2000]);
    expect(await archive.count({ domains: DOMAINS, filter: { status: 'saved' } })).to.equal(2);
    expect(await archive.count({ domains: [] })).to.equal(0);
    expect((await failure(archive.list({ domains: DOMAINS, filter: { nothing: 1 } }))).message).to.contain('nothing');
  });

  it('finds the recordings that a node left open', async () => {
    const [open, other, saved] = [recordRow({}), recordRow({ node: 'another' }), recordRow({ status: 'saved' })];
    for (const row of [open, other, saved]) await archive.add(row);
    expect((await archive.unfinished('test')).map(({ id }) => id)).to.deep.equal([open.id]);
  });

  it('keeps the queue of transcriptions in order', async () => {
    const [one, two, foreign] = [recordRow({}), recordRow({}), recordRow({ node: 'another' })];
    for (const row of [one, two, foreign]) await archive.add(row);
    await archive.setTranscript(two.id, 'queued', {});
    await new Promise((resolve) => setTimeout(resolve, 5));
    await archive.setTranscript(one.id, 'running', {});
    await archive.setTranscript(foreign.id, 'queued', {});
    expect((await archive.pendingTranscripts('test')).map(({ id }) => id)).to.deep.equal([two.id, one.id]);
    await archive.setTranscript(two.id, 'done', { text: 'said' });
    expect((await archive.pendingTranscripts('test')).map(({ id }) => id)).to.deep.equal([one.id]);
    expect((await archive.read(two.id))?.transcript).to.deep.equal({ text: 'said' });
  });
});
