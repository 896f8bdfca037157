import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { expect } from 'chai';
import { childrenOf, processorsOf, scriptProcessesOf } from './children.ts';

describe('child processes of a process', () => {
  it('exclude processes that have ended', async function () {
    if (process.platform !== 'linux') this.skip();
    const child = spawn('sleep', ['60']);
    const { pid = 0 } = child;
    expect(childrenOf(process.pid)).to.include(pid);
    const gone = once(child, 'exit');
    child.kill();
    await gone;
    expect(childrenOf(process.pid)).not.to.include(pid);
    expect([childrenOf(pid), scriptProcessesOf(pid), processorsOf(pid)]).to.deep.equal([[], [], '']);
  });
});
