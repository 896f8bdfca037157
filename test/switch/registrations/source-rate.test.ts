import { expect } from 'chai';
import { SourceRate } from '../../../runtime/switch/registrations/source-rate.ts';

describe('the rate of requests from one address', () => {
  let now = 0;
  const taken = (rate: SourceRate, address: string, times: number): number =>
    Array.from({ length: times }, () => rate.take(address)).filter(Boolean).length;

  it('has a burst of five seconds, and then its rate', () => {
    const rate = new SourceRate(10, () => now);
    expect(taken(rate, '192.0.2.1', 100)).to.equal(50);
    expect(taken(rate, '192.0.2.2', 100)).to.equal(50);
    now += 1000;
    expect(taken(rate, '192.0.2.1', 100)).to.equal(10);
  });

  it('has no limit when it is 0', () => {
    expect(taken(new SourceRate(0, () => now), '192.0.2.1', 10_000)).to.equal(10_000);
  });
});
