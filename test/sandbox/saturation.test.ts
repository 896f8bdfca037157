import { expect } from 'chai';
import { Saturation } from '../../runtime/sandbox/host/saturation.ts';

describe('sandbox: processors that scripts keep busy', () => {
  const looks = (processors: number, used: readonly number[]): string => {
    const saturation = new Saturation(processors);
    return used.map((each) => (saturation.look(each) ? 'L' : '-')).join('');
  };

  it('are all theirs while they do not use them up', () => {
    expect(looks(2, [0, 1, 1.4, 1.5, 0.3])).to.equal('-----');
    expect(looks(8, [0, 4, 6, 5.9])).to.equal('----');
  });

  it('are all but one from the moment on that they are about to', () => {
    expect(looks(2, [1, 1.9, 1, 1, 1, 0.9])).to.equal('-LLLLL');
    expect(looks(8, [6.1, 7, 7, 7])).to.equal('LLLL');
  });

  it('are all theirs again when they have used few for a while', () => {
    expect(looks(2, [1.9, 0.1, 0.1, 0.1, 0.1, 0.1])).to.equal('LLLL--');
    expect(looks(2, [1.9, 0.1, 0.1, 0.1, 0.6, 0.1, 0.1, 0.1, 0.1])).to.equal('LLLLLLLL-');
    expect(looks(2, [1.9, 0, 0, 0, 0, 1.9, 1])).to.equal('LLLL-LL');
    expect(looks(8, [7, 3.4, 3.4, 3.4, 3.4])).to.equal('LLLL-');
  });
});
