import { expect } from 'chai';
import { Consent } from '../../../../runtime/embedded/media/webrtc/consent.ts';

const SECOND = 1000;

/** A far end, at a time of its own. */
class FarEnd {
  now = 0;
  lost = 0;
  #packet = 0;
  #due: { readonly at: number; readonly run: () => void } | undefined;
  readonly consent: Consent;

  constructor() {
    const now = (): number => this.now;
    const packets = (): number => this.now - this.#packet;
    const stream = {
      get silentMs(): number {
        return packets();
      },
    };
    const after = (milliseconds: number, run: () => void): (() => void) => {
      this.#due = { at: this.now + milliseconds, run };
      return () => (this.#due = undefined);
    };
    this.consent = new Consent(stream, { after }, () => (this.lost += 1), now);
  }

  /** Lets seconds pass, with a check or a packet after each of them. */
  pass(seconds: number, what: { readonly checks?: boolean; readonly packets?: boolean } = {}): void {
    for (let second = 0; second < seconds; second += 1) {
      this.now += SECOND;
      if (what.checks === true) this.consent.checked();
      if (what.packets === true) this.#packet = this.now;
      const due = this.#due;
      if (due === undefined || due.at > this.now) continue;
      this.#due = undefined;
      due.run();
    }
  }
}

describe('the checks of a far end with ICE', () => {
  it('are missed after 30 s without any, and without packets', () => {
    const browser = new FarEnd();
    browser.pass(20, { checks: true, packets: true });
    browser.pass(29);
    expect(browser.lost).to.equal(0);
    browser.pass(1);
    expect(browser.lost).to.equal(1);
    browser.pass(100);
    expect(browser.lost).to.equal(1);
  });

  it('or packets alone keep the call', () => {
    for (const what of [{ checks: true }, { packets: true }]) {
      const browser = new FarEnd();
      browser.pass(10, { checks: true, packets: true });
      browser.pass(600, what);
      expect(browser.lost, JSON.stringify(what)).to.equal(0);
      browser.pass(30);
      expect(browser.lost, JSON.stringify(what)).to.equal(1);
    }
  });

  it('are not expected of one that checks at the beginning only', () => {
    const phone = new FarEnd();
    phone.pass(4, { checks: true });
    phone.pass(600);
    expect(phone.lost).to.equal(0);
  });

  it("are nobody's after the end of the call", () => {
    const browser = new FarEnd();
    browser.pass(20, { checks: true });
    browser.consent.stop();
    browser.pass(600);
    expect(browser.lost).to.equal(0);
  });
});
