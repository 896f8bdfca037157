import { expect } from 'chai';
import { CallIds } from '../../runtime/callstore/call-ids.ts';

describe('ids of calls', () => {
  it('a leg that moved belongs to its latest call, also after the end of the first', () => {
    const ids = new CallIds(() => 0);
    ids.live('first', ['dialog-1', 'leg']);
    ids.live('second', ['dialog-2', 'leg']);
    ids.over('first');
    expect(['dialog-1', 'dialog-2', 'leg', 'other'].map((id) => ids.of(id))).to.deep.equal([
      'first',
      'second',
      'second',
      undefined,
    ]);
  });

  it('are known for a minute after the end', () => {
    let now = 0;
    const ids = new CallIds(() => now);
    ids.live('old', ['old-leg', 'moved']);
    ids.live('waiting', ['waiting-leg']);
    ids.over('old');
    ids.over('waiting');
    ids.live('waiting', ['waiting-leg', 'moved']);
    now = 60_001;
    ids.live('new', ['new-leg']);
    ids.over('new');
    expect(['old-leg', 'waiting-leg', 'moved', 'new-leg'].map((id) => ids.of(id))).to.deep.equal([
      undefined,
      'waiting',
      'waiting',
      'new',
    ]);
  });

  it('are kept of no more than 5000 ended calls', () => {
    const ids = new CallIds(() => 0);
    for (let call = 0; call < 5010; call += 1) {
      ids.live(`call-${call}`, [`leg-${call}`]);
      ids.over(`call-${call}`);
    }
    expect(ids.of('leg-9')).to.equal(undefined);
    expect(ids.of('leg-10')).to.equal('call-10');
  });
});
