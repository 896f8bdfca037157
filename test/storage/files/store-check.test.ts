import { expect } from 'chai';
import { checkFileStore, openFiles } from '../../../runtime/storage/files/index.ts';
import type { Storage, StorageLog } from '../../../runtime/storage/index.ts';
import { silentLog } from '../../support/log.ts';
import { describePostgres, describeStorages, type Place, temporaryFolders } from '../support/storages.ts';

const folders = temporaryFolders();
after(() => folders.removeAll());

/** A node that starts with a file store. */
async function start(place: Place, folder: string, url?: string): Promise<{ storage: Storage; warnings: string[] }> {
  const warnings: string[] = [];
  const log: StorageLog = {
    ...silentLog,
    warn: (fields, message) => void warnings.push(`${message} ${JSON.stringify(fields)}`),
  };
  const storage = await place.open({ log });
  await checkFileStore(storage, openFiles(folder, url));
  return { storage, warnings };
}

describeStorages('the file store of a node', (newPlace) => {
  it('a store changed between two starts is reported by a warning', async () => {
    const place = await newPlace();
    const folder = folders.make();
    const bucket = 's3://key:secret@store.example/bucket';
    const expectWarnings = async (url: string | undefined, expected: number): Promise<string[]> => {
      const { storage, warnings } = await start(place, folder, url);
      await storage.close();
      expect(warnings).to.have.length(expected);
      return warnings;
    };
    await expectWarnings(undefined, 0);
    await expectWarnings(undefined, 0);
    const [warning] = await expectWarnings(bucket, 1);
    expect(warning)
      .to.match(/were kept in another file store before.*copy them/)
      .and.include(folder);
    expect(warning).to.include('s3://store.example/bucket').and.not.include('secret');
    await expectWarnings(bucket, 0);
  });
});

describePostgres('the file stores of several nodes', (newPlace) => {
  it('different stores are reported at the start, with a remedy', async () => {
    const place = await newPlace();
    const [one, other] = [folders.make(), folders.make()];
    const nodes = [await start(place, one), await start(place, one), await start(place, other)];
    const [first, same, third] = nodes.map(({ warnings }) => warnings);
    expect(first).to.deep.equal([]);
    expect(same).to.deep.equal([]);
    expect(third).to.have.length(1);
    expect(third?.[0])
      .to.match(/another file store.*give all nodes the same RINGMASTER_FILES/)
      .and.include(one);
    for (const { storage } of nodes) await storage.close();
  });
});
