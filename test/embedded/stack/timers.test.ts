import { expect } from 'chai';
import { TimerWheel } from '../../../runtime/embedded/stack/index.ts';

describe('timer wheel', () => {
  function setUp() {
    let now = 1234;
    const wheel = new TimerWheel(() => now);
    const fired: string[] = [];
    const move = (ms: number): void => {
      for (let left = ms; left > 0; left -= 10) {
        now += Math.min(10, left);
        wheel.advance();
      }
    };
    const jump = (ms: number): void => {
      now += ms;
      wheel.advance();
    };
    return { wheel, fired, move, jump, at: () => now - 1234 };
  }

  it('fires once, never early, and within a tick or two', () => {
    const { wheel, fired, move, at } = setUp();
    for (const delay of [0, 15, 30, 500, 4000, 10_240, 32_000, 100_000]) {
      wheel.set(delay, () => {
        expect(at()).to.be.at.least(delay);
        expect(at()).to.be.at.most(delay + 25);
        fired.push(String(delay));
      });
    }
    move(101_000);
    expect(fired).to.deep.equal(['0', '15', '30', '500', '4000', '10240', '32000', '100000']);
    expect(wheel.size).to.equal(0);
  });

  it('drops cancelled timers, also from within another one and twice', () => {
    const { wheel, fired, move } = setUp();
    const late = wheel.set(100, () => void fired.push('late'));
    const same = wheel.set(50, () => void fired.push('same'));
    wheel.set(50, () => {
      same.cancel();
      late.cancel();
      late.cancel();
      wheel.set(10, () => void fired.push('new'));
    });
    same.cancel();
    expect(wheel.size).to.equal(2);
    move(200);
    expect(fired).to.deep.equal(['new']);
    expect(wheel.size).to.equal(0);
  });

  it('catches up after a stall longer than one turn of the wheel', () => {
    const { wheel, fired, jump } = setUp();
    for (const delay of [20, 9000, 30_000, 70_000]) wheel.set(delay, () => void fired.push(String(delay)));
    jump(60_000);
    expect(fired.toSorted()).to.deep.equal(['20', '30000', '9000']);
    jump(20_000);
    expect(fired).to.include('70000');
  });

  it('uses the system clock', async () => {
    const wheel = new TimerWheel();
    const start = performance.now();
    await new Promise<void>((resolve) => wheel.set(30, resolve));
    expect(performance.now() - start).to.be.within(29, 2000);
    expect(wheel.size).to.equal(0);
  });

  it('drops every timer, and a later cancel has no effect', () => {
    let now = 0;
    const wheel = new TimerWheel(() => now);
    let fired = 0;
    const timers = [20, 20, 600_000].map((delay) => wheel.set(delay, () => (fired += 1)));
    wheel.clear();
    for (const timer of timers) timer.cancel();
    now = 700_000;
    wheel.advance();
    expect([wheel.size, fired]).to.deep.equal([0, 0]);
  });
});
