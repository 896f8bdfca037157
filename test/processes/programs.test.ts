import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { Nursery, programRunner } from '../../runtime/processes/index.ts';
import { childrenOf } from '../support/children.ts';

describe('programs started by the node', () => {
  const nursery = new Nursery();
  const run = programRunner(nursery);
  after(() => nursery.close());

  async function shell(
    script: string,
    input = '',
    more: { maxBytes?: number; timeoutMs?: number } = {},
    stop?: AbortSignal,
  ) {
    const work = { program: 'sh', args: ['-c', script], input, maxBytes: 1e6, timeoutMs: 10_000, ...more };
    const output = await run(work, stop ?? new AbortController().signal);
    return output && Buffer.from(output).toString();
  }

  /** The process that starts them: this one may have other children. */
  const starter = async () => Number(await shell('echo $PPID'));

  it('receive their input and return their output', async () => {
    const text = 'sound '.repeat(50_000);
    expect(await shell('cat', text)).to.equal(text);
    expect(await Promise.all(Array.from({ length: 5 }, (_, at) => shell(`cat; echo ${at}`, 'x')))).to.deep.equal([
      'x0\n',
      'x1\n',
      'x2\n',
      'x3\n',
      'x4\n',
    ]);
  });

  it("are started by another process, without this one's environment", async () => {
    process.env['RINGMASTER_TEST_SECRET'] = 'hidden';
    const [parent, secret] = (await shell('echo $PPID; echo "<$RINGMASTER_TEST_SECRET>"'))?.split('\n') ?? [];
    delete process.env['RINGMASTER_TEST_SECRET'];
    expect(childrenOf(process.pid)).to.include(Number(parent));
    expect(secret).to.equal('<>');
  });

  it('return undefined when they fail, are missing, or write too much', async () => {
    expect(await shell('echo half; exit 3')).to.equal(undefined);
    expect(await shell('head -c 5000 /dev/zero', '', { maxBytes: 4000 })).to.equal(undefined);
    const none = { program: '/nowhere/synthesizer', args: [], input: '', maxBytes: 10, timeoutMs: 10_000 };
    expect(await run(none, new AbortController().signal)).to.equal(undefined);
  });

  it('are killed with their descendants, after the time limit and on an abort', async () => {
    expect(await shell('sleep 600 & sleep 600', '', { timeoutMs: 300 })).to.equal(undefined);
    const pid = await starter();
    const stop = new AbortController();
    const stopped = shell('sleep 601 & sleep 601', '', {}, stop.signal);
    while (childrenOf(pid).length === 0) await delay(5);
    stop.abort();
    expect(await stopped).to.equal(undefined);
    while (childrenOf(pid).length > 0) await delay(5);
  });

  it('return undefined when the nursery is killed, and run again afterwards', async () => {
    const pid = await starter();
    const running = shell('cat; sleep 600');
    while (childrenOf(pid).length === 0) await delay(5);
    process.kill(pid, 'SIGKILL');
    expect(await running).to.equal(undefined);
    expect(await shell('echo again')).to.equal('again\n');
  });
});
