import { mock } from 'node:test';
import { expect } from 'chai';
import { OverloadNotice } from '../../../runtime/switch/incoming/overload-notice.ts';

describe('the notice of an overload', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'] }));
  afterEach(() => mock.timers.reset());

  it('comes once at its beginning, and at its end five seconds after the last refused call', () => {
    const told: string[] = [];
    const notice = new OverloadNotice(
      { begun: () => told.push('begun'), ended: (calls, seconds) => told.push(`${calls} calls in ${seconds} s`) },
      Date.now,
    );
    for (let call = 0; call < 5; call += 1) {
      notice.refused();
      mock.timers.tick(4000);
    }
    expect(told).to.deep.equal(['begun']);
    mock.timers.tick(999);
    expect(told).to.deep.equal(['begun']);
    mock.timers.tick(1);
    expect(told).to.deep.equal(['begun', '5 calls in 16 s']);
    notice.refused();
    mock.timers.tick(5000);
    expect(told.slice(2)).to.deep.equal(['begun', '1 calls in 0 s']);
    notice.refused(7);
    notice.refused(2);
    mock.timers.tick(5000);
    expect(told.slice(4)).to.deep.equal(['begun', '9 calls in 0 s']);
  });
});
