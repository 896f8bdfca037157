import { expect } from 'chai';
import { Growth } from '../../runtime/sandbox/host/growth.ts';

describe('sandbox: growth of a process', () => {
  const MB = 1_048_576;
  const look = { rss: 200 * MB, allowed: 0, arrivals: 0 };

  it('counts after a while with few runs', () => {
    const growth = new Growth(100 * MB);
    expect([look, look, look].map((each) => growth.look(each))).to.deep.equal([false, false, true]);
  });

  it('does not count while runs arrive, or while present ones may need it', () => {
    for (const other of [{ arrivals: 3 }, { allowed: 96 * MB }, { rss: 130 * MB }]) {
      const growth = new Growth(100 * MB);
      const looks = [look, look, { ...look, ...other }, look, look];
      expect(looks.map((each) => growth.look(each))).to.deep.equal(looks.map(() => false));
      expect(growth.look(look)).to.equal(true);
    }
  });
});
