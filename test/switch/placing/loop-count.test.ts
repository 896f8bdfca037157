import { expect } from 'chai';
import { asDomainName } from '../../../runtime/domain-name/index.ts';
import { LoopCount } from '../../../runtime/switch/placing/loop-count.ts';

describe('calls of scenarios to numbers that no phone has', () => {
  it('are limited to a hundred in each domain: a scenario that calls itself ends', () => {
    const count = new LoopCount();
    const take = (domain: string) => count.take(asDomainName(domain));
    const places = Array.from({ length: 100 }, () => take('one.example'));
    expect(places).not.to.include(undefined);
    expect(take('one.example')).to.equal(undefined);
    expect(take('two.example')).not.to.equal(undefined);
    places[7]?.();
    expect(take('one.example')).not.to.equal(undefined);
    expect(take('one.example')).to.equal(undefined);
  });
});
