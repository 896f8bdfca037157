import { expect } from 'chai';
import { Starvation } from '../../runtime/sandbox/host/starvation.ts';
import type { Use } from '../../runtime/sandbox/host/use.ts';

describe('sandbox: processors used by others', () => {
  const use = (used: number, idle: number): Use => ({ used, idle, idleOfLeft: 0 });
  const times = (count: number, used: number, idle: number): Use[] =>
    Array.from({ length: count }, () => use(used, idle));
  /** `S`: scripts get next to nothing. */
  const looks = (processors: number, ...uses: readonly Use[]): string => {
    const starvation = new Starvation(processors);
    return uses.map((each) => (starvation.look(each) ? 'S' : '-')).join('');
  };
  const window = 'S'.repeat(20);

  it('leave scripts enough while some are idle, or scripts get a good part of them, or only briefly', () => {
    expect(looks(2, ...times(9, 0, 0.2))).to.equal('---------');
    expect(looks(2, ...times(9, 0.3, 0))).to.equal('---------');
    expect(looks(8, ...times(9, 0, 0.8))).to.equal('---------');
    expect(looks(8, ...times(9, 2.1, 0))).to.equal('---------');
    expect(looks(2, ...times(2, 0, 0), use(0, 0.3), ...times(2, 0, 0), use(0.4, 0))).to.equal('------');
  });

  it('starve scripts when none is idle and scripts use almost nothing', () => {
    expect(looks(2, ...times(5, 0.2, 0.1))).to.equal('--SSS');
    expect(looks(8, ...times(5, 2, 0.7))).to.equal('--SSS');
    expect(looks(1, ...times(5, 0.2, 0.05))).to.equal('--SSS');
    expect(looks(1, ...times(5, 0.3, 0))).to.equal('-----');
  });

  it('starve scripts as long as none is idle, even when scripts get their share', () => {
    expect(looks(2, ...times(3, 0, 0), ...times(80, 0.6, 0.1))).to.equal(`--S${'S'.repeat(80)}`);
  });

  it('leave enough again after some idle time', () => {
    const begun = times(3, 0, 0);
    expect(looks(2, ...begun, ...times(22, 0, 2))).to.equal(`--${window}---`);
    // Taken together, not each time.
    expect(looks(2, ...begun, ...times(10, 0.4, 0), ...times(10, 0.4, 0.5))).to.equal(`--${window}-`);
    expect(looks(2, ...begun, ...times(19, 0.4, 0.1), use(0, 2))).to.equal(`--${window}S`);
  });

  it('leave enough again after scripts got most of it for a while', () => {
    expect(looks(2, ...times(3, 0, 0), ...times(20, 0.8, 0))).to.equal(`--${window}-`);
    expect(looks(2, ...times(3, 0, 0), ...times(20, 0.8, 0), ...times(4, 0, 0))).to.equal(`--${window}---SS`);
  });
});
