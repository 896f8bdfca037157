import { expect } from 'chai';
import { Saturation } from '../../runtime/sandbox/host/saturation.ts';

describe('sandbox: processors that scripts keep busy', () => {
  const looks = (processors: number, used: readonly number[]): string => {
    const saturation = new Saturation(processors);
    return used.map((each) => (saturation.look(each) ? 'L' : '-')).join('');
  };

  it('are all theirs while they do not use them up', () => {
    expect(looks(2, [0, 1, 1.3, 1.4, 0.3])).to.equal('-----');
    expect(looks(8, [0, 4, 5.6, 5.5])).to.equal('----');
  });

  it('are all but one from the moment on that they are about to', () => {
    expect(looks(2, [1, 1.9, 1, 1, 1, 0.9])).to.equal('-LLLLL');
    expect(looks(8, [5.7, 7, 7, 7])).to.equal('LLLL');
  });

  it('are all theirs again when they have used few for a while', () => {
    const calm = Array.from({ length: 8 }, () => 0.1);
    expect(looks(2, [1.9, ...calm, 0.1])).to.equal('LLLLLLLL--');
    expect(looks(2, [1.9, 0.1, 0.1, 0.1, 0.6, ...calm])).to.equal('LLLLLLLLLLLL-');
    expect(looks(2, [1.9, ...calm, 1.9, 1])).to.equal('LLLLLLLL-LL');
    expect(looks(8, [7, ...calm.map(() => 3.4)])).to.equal('LLLLLLLL-');
  });
});
