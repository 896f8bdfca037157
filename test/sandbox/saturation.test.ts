import { expect } from 'chai';
import { Saturation } from '../../runtime/sandbox/host/saturation.ts';
import type { Use } from '../../runtime/sandbox/host/use.ts';

describe('sandbox: processors used by scripts', () => {
  /** Scripts alone use some. */
  const alone = (processors: number, used: number): Use => ({
    used,
    idle: processors - used,
    idleOfLeft: Math.max(0, processors - 1 - used),
  });
  /** Others use what is left. */
  const beside = (used: number): Use => ({ used, idle: 0, idleOfLeft: 0 });
  const times = (count: number, use: Use): Use[] => Array.from({ length: count }, () => use);
  const looks = (processors: number, ...uses: readonly Use[]): string => {
    const saturation = new Saturation(processors);
    return uses.map((use) => (saturation.look(use) ? 'L' : '-')).join('');
  };
  const window = 'L'.repeat(20);

  it('are all available while scripts do not use them up, except briefly', () => {
    const few = [0, 1, 1.3, 1.4, 1.4, 1.4].map((used) => alone(2, used));
    expect(looks(2, ...few)).to.equal('------');
    const moments = [1.9, 1.9, 1, 1.9, 1.9, 1.3, 2].map((used) => alone(2, used));
    expect(looks(2, ...moments)).to.equal('-------');
    expect(looks(8, ...times(9, alone(8, 5.5)))).to.equal('---------');
  });

  it('are all but one when scripts would use all', () => {
    expect(looks(2, ...times(5, alone(2, 1.5)))).to.equal('--LLL');
    expect(looks(8, ...times(5, alone(8, 5.7)))).to.equal('--LLL');
  });

  it('are all but one when others leave none idle, and scripts take a good part', () => {
    expect(looks(2, ...times(4, beside(0.7)))).to.equal('--LL');
    expect(looks(2, ...times(4, { ...beside(0.7), idle: 0.3 }))).to.equal('----');
    expect(looks(2, ...times(4, beside(0.5)))).to.equal('----');
    expect(looks(8, ...times(4, { ...beside(4), idle: 0.7 }))).to.equal('--LL');
    expect(looks(8, ...times(4, beside(3)))).to.equal('----');
  });

  it('are all but one as long as scripts use those up', () => {
    expect(looks(2, ...times(3, alone(2, 2)), ...times(80, alone(2, 1)))).to.equal(`--L${'L'.repeat(80)}`);
    expect(looks(8, ...times(3, alone(8, 8)), ...times(80, alone(8, 6.5)))).to.equal(`--L${'L'.repeat(80)}`);
  });

  it('are all available again after scripts left some unused for a while', () => {
    const begun = times(3, alone(2, 2));
    expect(looks(2, ...begun, ...times(21, alone(2, 0.1)))).to.equal(`--${window}--`);
    // Taken together, not each time.
    const half = times(10, alone(2, 1)).flatMap((use) => [use, alone(2, 0.5)]);
    expect(looks(2, ...begun, ...half)).to.equal(`--${window}-`);
    expect(looks(2, ...begun, ...times(19, alone(2, 0.9)), alone(2, 0.1))).to.equal(`--L${window}`);
    expect(looks(2, ...begun, ...times(20, alone(2, 0.1)), ...times(4, alone(2, 2)))).to.equal(`--${window}---LL`);
  });

  it('are all available again while others use all, which would starve scripts', () => {
    expect(looks(2, ...times(3, beside(0.7)), ...times(24, beside(0.1)))).to.equal(`--${window}-----`);
    expect(looks(2, ...times(3, beside(0.7)), ...times(24, beside(0.4)))).to.equal(`--L${'L'.repeat(24)}`);
  });
});
