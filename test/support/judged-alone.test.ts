import { expect } from 'chai';
import { judgedAlone } from './judged-alone.ts';

const failed = (...files: string[]) => files.map((file) => ({ file, title: `of ${file}` }));
const lane = (passes: number, failures: ReturnType<typeof failed>) => ({
  lane: { name: 'calls' },
  passes,
  failures: failures.length,
  failed: failures,
  end: 'the text of mocha',
});

describe('a whole run of tests with failures', () => {
  /** Runs the files again, where those named fail. */
  async function judge(results: ReturnType<typeof lane>[], ...stillFailing: string[]) {
    const again: unknown[] = [];
    const judged = await judgedAlone(results, ({ lane: { name } }, other) => {
      const { files } = other;
      again.push([name, ...files]);
      const withPeers = { name, only: 'those skipped without peers' };
      expect({ ...withPeers, ...other }).to.include({ only: undefined });
      const failures = files.filter((file) => stillFailing.includes(file)).length;
      return Promise.resolve({ failures, end: 'the text of the second run' });
    });
    return { judged, again };
  }

  it('runs each file with failures again; what passes then is unsteady', async () => {
    const { judged, again } = await judge([lane(9, []), lane(5, failed('a', 'a', 'b'))]);
    expect(again).to.deep.equal([['calls', 'a', 'b']]);
    expect(judged.map(({ passes, failures }) => [passes, failures])).to.deep.equal([
      [9, 0],
      [8, 0],
    ]);
    expect(judged[1]?.end)
      .to.match(/^the text of mocha\n/)
      .and.include('unsteady, failed once and passed alone: of b');
  });

  it('has the failure of a file that fails again, and of another lane', async () => {
    const { judged } = await judge([lane(5, failed('a')), lane(4, failed('b'))], 'a');
    expect(judged.map(({ failures }) => failures)).to.deep.equal([1, 0]);
    expect(judged[0]?.end)
      .to.match(/^the text of mocha\n/)
      .and.include('the text of the second run');
  });

  it('runs nothing again when many files fail, or a process failed', async () => {
    for (const results of [
      [lane(5, failed('a', 'b', 'c', 'd', 'e', 'f', 'g'))],
      [{ ...lane(5, failed('a')), failures: 2 }],
    ])
      expect(await judge(results)).to.deep.equal({ judged: results, again: [] });
  });
});
