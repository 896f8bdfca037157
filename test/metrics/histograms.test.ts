import { createHistogram } from 'node:perf_hooks';
import { expect } from 'chai';
import { countUpTo } from '../../runtime/metrics/event-loop-delay.ts';
import { LabelLimit } from '../../runtime/metrics/label-limit.ts';

describe('labels of metrics', () => {
  it('the names of a domain over the limit share the value other, and known ones keep theirs', () => {
    const limit = new LabelLimit(2, 2);
    for (const name of ['menu', 'echo'])
      expect(limit.of('a.example', name)).to.deep.equal({ domain: 'a.example', name });
    expect(limit.of('a.example', 'third')).to.deep.equal({ domain: 'a.example', name: 'other' });
    expect(limit.of('a.example', 'menu')).to.deep.equal({ domain: 'a.example', name: 'menu' });
    expect(limit.of('b.example', 'menu')).to.deep.equal({ domain: 'b.example', name: 'menu' });
    expect(limit.of('c.example', 'menu')).to.deep.equal({ domain: 'other', name: 'other' });
  });
});

describe('the histogram of the event loop', () => {
  it("counts Node's measurements up to a bound", () => {
    const intervals = createHistogram({ figures: 5 });
    for (let value = 1; value <= 1000; value += 1) intervals.record(value * 1000);
    for (const bound of [1, 2, 10, 333, 999, 1000]) expect(countUpTo(intervals, bound * 1000 + 500)).to.equal(bound);
    expect(countUpTo(intervals, 500)).to.equal(0);
    expect(countUpTo(intervals, 5_000_000)).to.equal(1000);
    expect(countUpTo(createHistogram(), 1)).to.equal(0);
  });
});
