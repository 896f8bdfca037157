import { expect } from 'chai';
import { Admission } from '../../../runtime/switch/incoming/admission.ts';

describe('admission of calls', () => {
  it('has no limits by default', () => {
    const admission = new Admission({ calls: 0, startsPerSecond: 0 }, { live: () => 1_000_000 });
    expect(admission.refuse(false)).to.equal(undefined);
  });

  it('ends at the number of calls, and resumes below it', () => {
    let live = 2;
    const admission = new Admission({ calls: 3, startsPerSecond: 0 }, { live: () => live });
    expect(admission.refuse(false)).to.equal(undefined);
    live = 3;
    expect(admission.refuse(false)).to.deep.equal({
      reason: 'the node is at its limit of 3 calls',
      retryAfterSeconds: 5,
    });
    live = 2;
    expect(admission.refuse(false)).to.equal(undefined);
  });

  it('refuses calls that would be set up too late', () => {
    let told = 0;
    const admission = new Admission({ calls: 0, startsPerSecond: 1 }, { live: () => 0, overloaded: () => told++ });
    for (const _ of [1, 2]) {
      expect(admission.refuse(true)).to.deep.equal({
        reason: 'the node is overloaded: calls take too long to set up',
        retryAfterSeconds: 1,
      });
    }
    expect(told).to.equal(2);
    // Refused calls do not count as begun.
    expect(admission.refuse(false)).to.equal(undefined);
  });

  it('spreads call starts over the second', () => {
    let now = 0;
    const admission = new Admission({ calls: 0, startsPerSecond: 10 }, { live: () => 0 }, () => now);
    const burst = (): number => Array.from({ length: 20 }, () => admission.refuse(false)).filter((no) => !no).length;
    expect(burst()).to.equal(10);
    expect(admission.refuse(false)).to.include({ retryAfterSeconds: 1 });
    now += 300;
    expect(burst()).to.equal(3);
    now += 60_000;
    expect(burst()).to.equal(10);
  });
});
