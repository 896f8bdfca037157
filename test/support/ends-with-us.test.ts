import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import process from 'node:process';
import { expect } from 'chai';

const MODULE = new URL('ends-with-us.ts', import.meta.url).href;
const PARENT = `
const { spawn } = await import('node:child_process');
const { endsWithUs } = await import('${MODULE}');
const [program, args] = endsWithUs('sh', ['-c', 'echo ready; exec sleep 600'], 'TERM');
spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
`;

describe('the programs of a test run', () => {
  it('end when the run is killed', async function () {
    if (!existsSync('/usr/bin/setpriv')) this.skip();
    const run = spawn(process.execPath, ['--input-type=module', '-e', PARENT], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = (await once(run.stdout, 'data')) as [Buffer];
    expect(said.toString()).to.equal('ready\n');
    // Its output closes when the program, too, has ended.
    const closed = once(run.stdout, 'close');
    run.kill('SIGKILL');
    await closed;
  });
});
