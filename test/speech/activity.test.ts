import { expect } from 'chai';
import { untilActive } from '../../runtime/speech/activity.ts';

const at = (time: string): number => Date.parse(`2026-11-21T${time}Z`);
const MINUTE = 60_000;

describe('activity time of transcription', () => {
  it('is unlimited by default', () => {
    expect(untilActive(undefined, at('03:00:00'))).to.equal(0);
    expect(untilActive({ from: '08:00', to: '08:00' }, at('03:00:00'))).to.equal(0);
  });

  it('lies between two times', () => {
    const day = { from: '08:00', to: '20:00', timezone: 'UTC' };
    expect(untilActive(day, at('08:00:00'))).to.equal(0);
    expect(untilActive(day, at('19:59:59'))).to.equal(0);
    expect(untilActive(day, at('20:00:00'))).to.equal(12 * 60 * MINUTE);
    expect(untilActive(day, at('07:59:30'))).to.equal(MINUTE / 2);
  });

  it('may span midnight', () => {
    const night = { from: '22:00', to: '06:00', timezone: 'UTC' };
    expect(untilActive(night, at('23:30:00'))).to.equal(0);
    expect(untilActive(night, at('05:59:00'))).to.equal(0);
    expect(untilActive(night, at('06:00:00'))).to.equal(16 * 60 * MINUTE);
  });

  it('uses its time zone', () => {
    const berlin = { from: '09:00', to: '10:00', timezone: 'Europe/Berlin' };
    expect(untilActive(berlin, at('08:30:00'))).to.equal(0);
    expect(untilActive(berlin, at('09:30:00'))).to.equal((22 * 60 + 30) * MINUTE);
  });
});
