import { expect } from 'chai';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pack, unpack } from '../../runtime/storage/pglite/archive.ts';
import { temporaryFolders } from './support/storages.ts';

describe('archive of a folder', () => {
  const folders = temporaryFolders();
  after(() => folders.removeAll());

  function packed(): { archive: string; parent: string } {
    const parent = folders.make();
    const folder = join(parent, 'folder');
    mkdirSync(join(folder, 'a', 'empty'), { recursive: true });
    writeFileSync(join(folder, 'a', 'bytes'), Buffer.from([0, 10, 255, 10]));
    writeFileSync(join(folder, 'none'), '');
    const archive = join(parent, 'archive');
    pack(folder, archive, `${archive}.part`);
    return { archive, parent };
  }

  it('has all folders, files and bytes', () => {
    const { archive, parent } = packed();
    const again = join(parent, 'again');
    unpack(archive, again, `${again}.part`);
    expect((readdirSync(again, { recursive: true }) as string[]).toSorted()).to.deep.equal([
      'a',
      'a/bytes',
      'a/empty',
      'none',
    ]);
    expect([...readFileSync(join(again, 'a', 'bytes'))]).to.deep.equal([0, 10, 255, 10]);
    expect(readdirSync(parent).toSorted()).to.deep.equal(['again', 'archive', 'folder']);
  });

  it('is refused when it is damaged, cut or missing, and leaves no folder', () => {
    const { archive, parent } = packed();
    const whole = readFileSync(archive);
    const flipped = Buffer.from(whole);
    flipped[whole.length - 6] = (flipped.at(-6) ?? 0) ^ 1;
    const again = join(parent, 'again');
    for (const bytes of [flipped, whole.subarray(0, -5), Buffer.alloc(0), Buffer.from('nonsense')]) {
      writeFileSync(archive, bytes);
      expect(() => unpack(archive, again, `${again}.part`)).to.throw(Error);
    }
    expect(() => unpack(join(parent, 'nothing'), again, `${again}.part`)).to.throw('ENOENT');
    expect([again, `${again}.part`].map((name) => existsSync(name))).to.deep.equal([false, false]);
  });
});
