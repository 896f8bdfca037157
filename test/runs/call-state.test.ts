import { expect } from 'chai';
import type { CallState } from '../../runtime/language/call-words.ts';
import { CallStateError } from '../../runtime/runs/call-port.ts';
import { CALL_TRANSITIONS, type CallStateEvent, ScenarioCallState } from '../../runtime/runs/call-state.ts';
import { type ExpectedTransitions, itFollows, pairsOf } from '../support/transitions.ts';

/** The events of a live call that most states ignore, and its end. */
const NONE = {
  call: '-',
  answered: '-',
  transfer: '-',
  returned: '-',
  forward: '-',
  unreached: '-',
  over: 'ended',
} as const;

const EXPECTED: ExpectedTransitions<CallState, CallStateEvent> = {
  none: { ...NONE, call: 'outgoing' },
  incoming: { ...NONE, answered: 'connected', forward: 'transferred' },
  outgoing: { ...NONE, answered: 'connected' },
  connected: { ...NONE, transfer: 'transferred' },
  transferred: { ...NONE, returned: 'connected', unreached: 'incoming' },
  ended: { ...NONE, over: '-' },
};

describe("state of a scenario's call", () => {
  itFollows(CALL_TRANSITIONS, EXPECTED);

  for (const { from, event, to } of pairsOf(EXPECTED)) {
    if (to !== '-') continue;
    it(`${from} refuses an operation that needs ${event}`, () => {
      const state = new ScenarioCallState(from);
      expect(() => state.take(event, 'refer'))
        .to.throw(CallStateError, /^refer is not possible: /)
        .with.property('state', from);
      expect(state.state).to.equal(from);
    });
  }

  it('refuses an operation that needs another state, and changes nothing', () => {
    const state = new ScenarioCallState('incoming');
    expect(() => state.require('play', 'connected')).to.throw(
      CallStateError,
      'play is not possible: the call is incoming; answer it first',
    );
    state.require('answer', 'incoming');
    expect(state.state).to.equal('incoming');
  });
});
