import { expect } from 'chai';
import { useStage } from '../support/stage.ts';
import { expectCleanRtp, expectTalk } from './expectations.ts';

describe('hold by re-INVITE', () => {
  const stage = useStage();

  for (const side of ['the caller', 'the called party'] as const) {
    for (const direction of ['sendonly', 'inactive'] as const) {
      it(`by ${side} with ${direction} silences the call until it is resumed`, async () => {
        const [alice, bob] = await stage.phones('alice', 'bob');
        const { outgoing, incoming } = await stage.connect(alice, bob, '102');
        await expectTalk(outgoing, incoming);
        const [holder, held] = side === 'the caller' ? [outgoing, incoming] : [incoming, outgoing];
        await holder.hold(direction);
        const answered = holder.session.remote?.direction;
        expect(answered).to.be.oneOf(direction === 'sendonly' ? ['recvonly', 'inactive'] : ['inactive']);
        await holder.hearsNot(holder === outgoing ? 620 : 440, { forMs: 400 });
        expect((await stage.dialog()).status).to.equal('dialog');
        await holder.unhold();
        await expectTalk(outgoing, incoming);
        expectCleanRtp(outgoing, incoming);
        expect(held.established).to.equal(true);
      });
    }
  }

  it('can be repeated, and used by both sides at once', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    for (let round = 0; round < 3; round += 1) {
      await outgoing.hold();
      await incoming.hold();
      await outgoing.unhold();
      await incoming.unhold();
    }
    await expectTalk(outgoing, incoming);
    expectCleanRtp(outgoing, incoming);
  });

  it('can be resumed at once', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    await expectTalk(outgoing, incoming);
    for (let round = 0; round < 10; round += 1) {
      const holder = round % 2 === 0 ? outgoing : incoming;
      await holder.hold();
      await holder.unhold();
      await expectTalk(outgoing, incoming);
    }
  });

  it('can follow the ACK immediately', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    await Promise.all([outgoing.reinvite(), incoming.reinvite()]).then((responses) =>
      expect(responses.map(({ status }) => status)).to.deep.equal([200, 200]),
    );
    await expectTalk(outgoing, incoming);
  });

  it('does not prevent a hang-up', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    await outgoing.hold('inactive');
    await incoming.hangup();
    expect((await outgoing.ended()).by).to.equal('there');
  });
});
