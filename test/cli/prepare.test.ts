import { execFile } from 'node:child_process';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { FreshCopy } from '../stress/fresh-copy.ts';

const run = promisify(execFile);

describe('the preparation of starts', function () {
  // Three installations, each with a start.
  this.timeout(300_000);
  let folder: string;
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'ringmaster-prepared-'))));
  after(() => rm(folder, { recursive: true, force: true }));

  it('keeps all compiled scripts of the examples, also at a second installation and a changed example', async () => {
    const { folder: project } = new FreshCopy(join(folder, 'project'));
    const prepare = async (): Promise<readonly string[]> => {
      const { stderr } = await run(process.execPath, ['runtime/cli/prepare.mjs'], { cwd: project });
      expect(stderr).to.equal('');
      const kept = join(project, 'node_modules/.cache/ringmaster/compiled-scripts.jsonl');
      return (await readFile(kept, 'utf8')).trim().split('\n').toSorted();
    };
    const first = await prepare();
    expect(await prepare()).to.deep.equal(first);
    await appendFile(join(project, 'scenarios/examples/guess.ts'), '\n// Changed.\n');
    const third = await prepare();
    expect(third).to.have.length(first.length);
    expect(third.filter((line) => !first.includes(line))).to.have.length(1);
  });
});
