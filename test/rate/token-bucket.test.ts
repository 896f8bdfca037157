import { expect } from 'chai';
import { TokenBucket } from '../../runtime/rate/token-bucket.ts';

describe('token bucket', () => {
  it('gives a burst of its capacity', () => {
    const bucket = new TokenBucket(4, 3);
    expect([1, 2, 3, 4].map(() => bucket.take(1000))).to.deep.equal([true, true, true, false]);
    expect(bucket.wait(1000)).to.equal(250);
    expect(bucket.take(1249)).to.equal(false);
    expect(bucket.take(1250)).to.equal(true);
    expect(bucket.take(1250)).to.equal(false);
  });

  it('never exceeds its capacity', () => {
    const bucket = new TokenBucket(2);
    expect(bucket.take(0)).to.equal(true);
    const later = 1_000_000;
    expect(bucket.full(later)).to.equal(true);
    expect([1, 2, 3].map(() => bucket.take(later))).to.deep.equal([true, true, false]);
    expect(bucket.full(later)).to.equal(false);
  });

  it('gives one token at rates below one per second', () => {
    const bucket = new TokenBucket(0.5);
    expect([bucket.take(0), bucket.take(1999), bucket.take(2000)]).to.deep.equal([true, false, true]);
  });

  it('lends tokens, and waits until they are returned', () => {
    const bucket = new TokenBucket(10);
    bucket.spend(0, 25);
    expect(bucket.wait(0)).to.equal(1600);
    expect(bucket.wait(0, 0)).to.equal(1500);
    expect(bucket.take(1599)).to.equal(false);
    expect(bucket.take(1600)).to.equal(true);
  });
});
