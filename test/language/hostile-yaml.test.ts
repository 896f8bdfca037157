import process from 'node:process';
import { expect } from 'chai';
import { check } from '../support/scenarios.ts';

/** Comparing each key with all others took 17 s for so many. */
const KEYS = 40_000;
/** Of processor time: other work does not count. */
const WITHIN_MS = 8000;

describe('hostile scenario files', () => {
  it(`are checked at once: a map of ${KEYS} keys`, () => {
    const source = Array.from({ length: KEYS }, (_, at) => `k${at}: 1`).join('\n');
    const began = process.cpuUsage();
    expect(check(source).problems).to.not.deep.equal([]);
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1000).to.be.below(WITHIN_MS);
  }).timeout(120_000);

  it('a duplicate key is reported at its second place', () => {
    const { problems } = check(`id: t
start: a
start: b
blocks:
  a: { wait: 1s, next: end }
`);
    expect(problems).to.deep.include({
      file: problems[0]?.file,
      line: 3,
      column: 1,
      message: 'this key appears twice',
      suggestion: 'keep one of them',
    });
  });
});
