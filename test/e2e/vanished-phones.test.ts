import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { expectTalk } from './expectations.ts';
import { TONES, useRooms } from './conference/support.ts';

/** Seconds of silence after which a phone counts as vanished in these tests. */
const LIMIT = 2;

describe('a phone that vanishes without BYE', () => {
  const { stage, rooms } = useRooms({ env: { RINGMASTER_RTP_TIMEOUT: String(LIMIT) } });

  it('is removed from its conference; holding and silent participants stay', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const one = await rooms.enter(alice, '*707901', TONES[0]);
    const holding = await rooms.enter(bob, '*707901');
    const vanishing = await rooms.enter(carol, '*707901', TONES[2]);
    const conference = await rooms.only(3);
    await holding.hold('inactive');
    await one.hears(TONES[2]);
    vanishing.abandon();
    await eventually(async () => {
      const left = (await rooms.participants(conference)).map(({ ruri, state }) => [ruri, state]);
      expect(left).to.deep.equal([
        ['<sip:alice@demo.local>', 'connected'],
        ['<sip:bob@demo.local>', 'hold'],
      ]);
    }, 10_000);
    await holding.unhold();
    await holding.hears(TONES[0]);
    expect(one.established).to.equal(true);
  });

  it('ends its call with another phone', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    await expectTalk(outgoing, incoming);
    incoming.abandon();
    expect((await outgoing.ended(10_000)).by).to.equal('there');
  });
});
