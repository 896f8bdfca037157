import { spawnSync } from 'node:child_process';
import os from 'node:os';
import process from 'node:process';
import { expect } from 'chai';
import { LazySandbox } from '../../runtime/cli/lazy-sandbox.ts';
import { allowedProcessors, withoutFirstProcessor } from '../../runtime/processes/index.ts';
import { openSandbox } from '../../runtime/sandbox/index.ts';
import { processorsOf } from '../support/children.ts';
import { startScript } from './support.ts';

const INDEX = new URL('../../runtime/sandbox/index.ts', import.meta.url).href;
const CHILDREN = new URL('../support/children.ts', import.meta.url).href;

describe('sandbox: processors of script processes', function () {
  this.timeout(20_000);
  const all = allowedProcessors() ?? '';

  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  const processorsWith = async (spareOne: boolean): Promise<string[]> => {
    const sandbox = await openSandbox({ workers: 2, spareOne });
    try {
      expect((await startScript(sandbox, { source: 'return 2' }).finished).value).to.equal(2);
      return sandbox.pids.map(processorsOf);
    } finally {
      await sandbox.close();
    }
  };

  it('are all processors of the node', async () => {
    expect(await processorsWith(false)).to.deep.equal([all, all]);
  });

  it('with spareOne are all but the first', async () => {
    const left = withoutFirstProcessor(all) ?? all;
    expect(await processorsWith(true)).to.deep.equal([left, left]);
  });

  it('are used by commands of authors with the priority of the command', async () => {
    await using command = new LazySandbox();
    const { pids } = (await command.open()) as Awaited<ReturnType<typeof openSandbox>>;
    expect(pids.map((pid) => os.getPriority(pid))).to.deep.equal([os.getPriority()]);
  });

  it('with spareOne on a machine with one processor are that one', () => {
    const ask = `
      import { openSandbox } from '${INDEX}';
      import { processorsOf } from '${CHILDREN}';
      const sandbox = await openSandbox({ workers: 1, spareOne: true });
      console.log(JSON.stringify(sandbox.pids.map(processorsOf)));
      await sandbox.close();`;
    const [only = ''] = /^\d+/.exec(all) ?? [];
    const asked = ['-c', only, process.execPath, '--input-type=module', '-e', ask];
    const { stdout, stderr } = spawnSync('taskset', asked, { encoding: 'utf8' });
    expect(JSON.parse(stdout || stderr)).to.deep.equal([only]);
  });
});
