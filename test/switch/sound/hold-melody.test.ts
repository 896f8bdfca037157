import { expect } from 'chai';
import {
  HOLD_MELODY_TRANSITIONS,
  HoldMelody,
  type HoldMelodyEvent,
  type HoldMelodyState,
} from '../../../runtime/switch/sound/hold-melody.ts';
import { type ExpectedTransitions, itFollows } from '../../support/transitions.ts';

const EXPECTED: ExpectedTransitions<HoldMelodyState, HoldMelodyEvent> = {
  plays: { skip: 'skipped', hold: 'plays', stop: 'off' },
  skipped: { skip: '-', hold: 'plays', stop: 'off' },
  off: { skip: '-', hold: '-', stop: '-' },
};

describe('transition table of the hold melody', () => {
  itFollows(HOLD_MELODY_TRANSITIONS, EXPECTED);
});

describe('hold melody', () => {
  it('plays at every hold, and never in a permanently stopped call', () => {
    const melody = new HoldMelody(false);
    expect([melody.begin(), melody.begin()]).to.deep.equal([true, true]);
    expect(new HoldMelody(true).begin()).to.equal(false);
  });

  it('is skipped once by the mode `once` outside a hold', () => {
    const melody = new HoldMelody(false);
    expect(melody.stop('once', false)).to.equal(false);
    expect([melody.begin(), melody.begin()]).to.deep.equal([false, true]);
  });

  it('stops in a hold and plays in the next one', () => {
    const melody = new HoldMelody(false);
    expect(melody.stop('temporary', true)).to.equal(true);
    expect(melody.begin()).to.equal(true);
    expect(melody.stop('temporary', false)).to.equal(undefined);
  });

  it('is off for good after the permanent mode', () => {
    const melody = new HoldMelody(false);
    expect(melody.stop('permanent', true)).to.equal(true);
    expect([melody.begin(), melody.isOff]).to.deep.equal([false, true]);
  });
});
