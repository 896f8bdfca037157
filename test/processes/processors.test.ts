import process from 'node:process';
import { expect } from 'chai';
import { allowedProcessors, Nursery, offFirstProcessor, withoutFirstProcessor } from '../../runtime/processes/index.ts';
import { processorsOf } from '../support/children.ts';

describe('processors', () => {
  const lists: readonly (readonly [list: string, left: string | undefined])[] = [
    ['0', undefined],
    ['5', undefined],
    ['0-1', '1'],
    ['0-7', '1-7'],
    ['0,2', '2'],
    ['3-4,8-11', '4,8-11'],
    ['2,4-5,7', '4-5,7'],
    ['', undefined],
  ];
  for (const [list, left] of lists) {
    it(`the list '${list}' without its first processor is ${left ?? 'empty'}`, () => {
      expect(withoutFirstProcessor(list)).to.equal(left);
    });
  }

  it('of this process are read from the kernel', function () {
    if (process.platform !== 'linux') this.skip();
    expect(allowedProcessors()).to.equal(processorsOf('self'));
  });

  it('a process can start off the first one, without an environment', async function () {
    if (process.platform !== 'linux') this.skip();
    const all = allowedProcessors() ?? '';
    const nursery = new Nursery();
    try {
      const up = Promise.withResolvers<number>();
      const shown = Promise.withResolvers<string>();
      const script =
        'process.stderr.write(JSON.stringify([process.env, process.argv.slice(1)])); setInterval(() => {}, 1e6)';
      const args = ['-e', script, 'a b', '$0'];
      const kill = nursery.start(offFirstProcessor({ program: process.execPath, args }), {
        started: (pid) => up.resolve(pid),
        words: (text) => shown.resolve(text),
        gone: (reason) => shown.reject(new Error(reason)),
        orphaned: () => undefined,
      });
      const pid = await up.promise;
      expect(JSON.parse(await shown.promise)).to.deep.equal([{}, ['a b', '$0']]);
      expect(processorsOf(pid)).to.equal(withoutFirstProcessor(all) ?? all);
      kill();
    } finally {
      nursery.close();
    }
  });
});
