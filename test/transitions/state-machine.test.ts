import { expect } from 'chai';
import { StateMachine, type TransitionTable } from '../../runtime/transitions/index.ts';

describe('state machine', () => {
  type Lamp = 'off' | 'on' | 'broken';
  const TABLE: TransitionTable<Lamp, 'press' | 'drop'> = {
    off: { press: 'on', drop: 'broken' },
    on: { press: 'off', drop: 'broken' },
    broken: {},
  };

  it('starts in its initial state', () => {
    expect(new StateMachine(TABLE, 'on').state).to.equal('on');
  });

  it('enters the state that the table lists, and returns the state it left', () => {
    const lamp = new StateMachine(TABLE, 'off');
    expect(lamp.step('press')).to.equal('off');
    expect(lamp.state).to.equal('on');
  });

  it('returns undefined for an event that its state does not list, and keeps its state', () => {
    const lamp = new StateMachine(TABLE, 'broken');
    expect(lamp.step('press')).to.equal(undefined);
    expect(lamp.state).to.equal('broken');
  });
});
