import { expect } from 'chai';
import { keepsRoomAlive, mayBecome, type SeatState } from '../../runtime/conference/state.ts';
import { roomSettings } from '../../runtime/conference/settings.ts';

const STATES: readonly SeatState[] = ['entering', 'calling', 'ringing', 'connected', 'hold', 'disconnected'];

describe('states of a participant', () => {
  const next: Readonly<Record<SeatState, string>> = {
    entering: 'connected hold disconnected',
    calling: 'ringing connected hold disconnected',
    ringing: 'connected hold disconnected',
    connected: 'hold disconnected',
    hold: 'connected disconnected',
    disconnected: '',
  };
  for (const from of STATES) {
    it(`${from} may become ${next[from] === '' ? 'nothing' : next[from]}`, () => {
      expect(STATES.filter((to) => mayBecome(from, to)).join(' ')).to.equal(next[from]);
    });
  }

  it('a room lives while a participant is in it or dials in, not for parties being called', () => {
    expect(STATES.filter((state) => keepsRoomAlive(state, { invited: false }))).to.deep.equal(STATES.slice(0, -1));
    expect(STATES.filter((state) => keepsRoomAlive(state, { invited: true }))).to.deep.equal(['connected', 'hold']);
  });
});

describe('settings of a room', () => {
  it('default without opts, and for values of a wrong type', () => {
    const nothing = roomSettings({ opts: {} });
    expect(nothing).to.include({ pin: '', record: 'none', maxMembers: 0, music: false, waitForModerator: false });
    expect(roomSettings({ opts: { max_members: -1, record: 'x', moderators: '101', music: 'yes' } })).to.deep.equal(
      nothing,
    );
  });

  it('are read from opts', () => {
    const opts = { pin: 4711, moderators: ['101'], record: true, max_members: 3, end_with_moderator: true };
    expect(roomSettings({ opts })).to.deep.include({
      pin: '4711',
      moderators: ['101'],
      record: 'conference',
      maxMembers: 3,
      endWithModerator: true,
    });
  });
});
