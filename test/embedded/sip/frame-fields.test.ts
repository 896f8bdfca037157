import { expect } from 'chai';
import { timeOfDay } from '../../../runtime/embedded/sip/frame-fields.ts';

describe('time of day in frames', () => {
  it('counts microseconds, pads them, and follows seconds in both directions', () => {
    const at = Date.UTC(2026, 0, 2, 3, 4, 5);
    expect(timeOfDay(at)).to.equal('03:04:05.000000');
    expect(timeOfDay(at + 7.0625)).to.equal('03:04:05.007062');
    expect(timeOfDay(at + 999.5)).to.equal('03:04:05.999500');
    expect(timeOfDay(at + 1000)).to.equal('03:04:06.000000');
    expect(timeOfDay(at - 0.5)).to.equal('03:04:04.999500');
  });

  it('defaults to the current time', () => {
    expect(timeOfDay()).to.match(/^\d\d:\d\d:\d\d\.\d{6}$/);
  });
});
