import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Command } from './command.ts';

describe('compiled code that ringmaster keeps', function () {
  this.timeout(60_000);
  let folder: string;
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'ringmaster-cache-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const run = async (cache: string) =>
    await (await Command.run(['freeswitch-config', '--help'], { NODE_COMPILE_CACHE: cache })).ended;

  it('may be damaged', async () => {
    const before = await run(folder);
    const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    expect(files).to.have.length.above(1);
    for (const [index, { parentPath, name }] of files.entries())
      await writeFile(join(parentPath, name), index % 2 === 0 ? '' : 'nonsense'.repeat(99));
    expect(await run(folder)).to.deep.equal(before);
    expect(before.code).to.equal(0);
  });

  it('need not be writable', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    expect(await run(join(file, 'impossible'))).to.deep.include({ code: 0, err: '' });
  });
});
