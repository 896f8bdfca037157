import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeFolder } from '../../../runtime/embedded/media/core/make-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

describe('embedded media server: folders of recordings', () => {
  const folder = temporaryFolder();

  it('are created with their parents, or may exist', async () => {
    const deep = join(folder, 'a', 'b', 'c');
    await makeFolder(deep);
    await Promise.all([
      makeFolder(deep),
      makeFolder(join(folder, 'a', 'd', 'e')),
      makeFolder(join(folder, 'a', 'd', 'f')),
    ]);
    expect((await stat(join(folder, 'a', 'd', 'f'))).isDirectory()).to.equal(true);
    expect((await stat(deep)).isDirectory()).to.equal(true);
  });

  it('are refused where the system creates none', async () => {
    await writeFile(join(folder, 'file'), '');
    for (const path of ['/proc/none/deeper', join(folder, 'file', 'under')]) {
      const code = await makeFolder(path).then(
        () => 'made',
        (error: NodeJS.ErrnoException) => error.code,
      );
      expect(code, path).to.be.oneOf(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM']);
    }
  });
});
