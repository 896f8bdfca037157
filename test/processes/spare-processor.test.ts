import { expect } from 'chai';
import { allButOneProcessor } from '../../runtime/processes/index.ts';

describe('processors that are left when one is spared', () => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['0', undefined],
    ['5', undefined],
    ['', undefined],
    ['0-1', '1'],
    ['0-7', '1-7'],
    ['0,2', '2'],
    ['3-4,8-11', '4,8-11'],
    ['2,4-5,7', '4-5,7'],
    ['0-127', '1-127'],
  ];
  for (const [allowed, left] of cases) {
    it(`of "${allowed}" are ${left ?? 'none'}`, () => {
      expect(allButOneProcessor(allowed)).to.equal(left);
    });
  }
});
