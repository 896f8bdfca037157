import { expect } from 'chai';
import { Saturation } from '../../runtime/sandbox/host/saturation.ts';

describe('sandbox: processors that scripts keep busy', () => {
  /** @param looks what scripts have used, and what was idle where others used all the rest or part of it */
  const looks = (
    processors: number,
    ...looked: readonly (number | readonly [used: number, idle: number])[]
  ): string => {
    const saturation = new Saturation(processors);
    return looked
      .map((each) => (typeof each === 'number' ? [each, processors - each] : each))
      .map(([used = 0, idle = 0]) => (saturation.look(used, idle) ? 'L' : '-'))
      .join('');
  };

  const kept = 'L'.repeat(20);

  it('are all theirs while they do not use them up', () => {
    expect(looks(2, 0, 1, 1.3, 1.4, 0.3)).to.equal('-----');
    expect(looks(8, 0, 4, 5.6, 5.5)).to.equal('----');
  });

  it('are all but one from the moment on that they are about to', () => {
    expect(looks(2, 1, 1.9, 1, 1, 1, 0.9)).to.equal('-LLLLL');
    expect(looks(8, 5.7, 7, 7, 7)).to.equal('LLLL');
  });

  it('are all but one when others leave none idle, if scripts take a good part', () => {
    expect(looks(2, [1, 0.3], [0.7, 0.1], [0.7, 0.9])).to.equal('-LL');
    expect(looks(2, [0.4, 0], [0.5, 0])).to.equal('--');
    expect(looks(8, [4, 0.9], [3, 0], [4, 0.7])).to.equal('--L');
  });

  it('are all theirs again when they have used few for a while', () => {
    const calm = Array.from({ length: 20 }, () => 0.1);
    expect(looks(2, 1.9, ...calm, 0.1)).to.equal(`${kept}--`);
    expect(looks(2, 1.9, 0.1, 0.1, 0.1, 0.4, ...calm)).to.equal(`${'L'.repeat(4)}${kept}-`);
    expect(looks(2, 1.9, ...calm, 1.9, 1)).to.equal(`${kept}-LL`);
    expect(looks(8, 7, ...calm.map(() => 2))).to.equal(`${kept}-`);
  });

  it('are theirs again while others use all, which would leave them next to nothing', () => {
    const starved = Array.from({ length: 20 }, () => [0.1, 0] as const);
    expect(looks(2, [0.7, 0], ...starved, [0.2, 0])).to.equal(`${kept}--`);
  });
});
