import { expect } from 'chai';
import { CALLS, useStage } from '../support/stage.ts';
import { expectTalk } from './expectations.ts';

describe('an answer that crosses a CANCEL', () => {
  const stage = useStage();

  it('of a caller who gives up: the answered phone gets BYE, and nobody is connected', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const outgoing = await alice.call('102');
    const incoming = await bob.incoming();
    incoming.ring();
    await outgoing.ringing();
    incoming.answersCancelled = true;
    await outgoing.cancel();
    expect(outgoing.end).to.include({ by: 'cancelled', status: 487 });
    expect((await incoming.ended()).by).to.equal('there');
  });

  it('to a slower phone of a fork: that phone gets BYE, and the faster one talks', async () => {
    const alice = await stage.phone('alice');
    const [fast, slow] = [await stage.phone('bob'), await stage.phone('bob')];
    const outgoing = await alice.call('102');
    const [incoming, late] = [await fast.incoming(), await slow.incoming()];
    late.answersCancelled = true;
    await incoming.answer();
    await outgoing.answered();
    expect((await late.ended()).by).to.equal('there');
    await expectTalk(outgoing, incoming);
    expect((await stage.dialog()).callids).to.have.members([outgoing.callId, incoming.callId]);
    await outgoing.hangup();
    await incoming.ended();
  });

  it('of a DELETE: both parties of a POST are released with BYE', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const asked = stage.operate('POST', { from: '101', to: '102', response_mode: 4 });
    const first = await alice.incoming();
    await first.answer();
    const target = await bob.incoming();
    target.ring();
    target.answersCancelled = true;
    const { dialogid } = await stage.dialog();
    expect((await (await stage.rest()).send('DELETE', `${CALLS}/${dialogid}`)).status).to.equal(200);
    expect((await asked).json()).to.include({ result: 'rejected' });
    for (const call of [first, target]) expect((await call.ended()).by).to.equal('there');
  });

  it("a caller's BYE or CANCEL that crosses its own 200 ends both sides", async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    for (const pauseMs of [0, 2, 5, 10]) {
      const outgoing = await alice.call('102');
      const incoming = await bob.incoming();
      incoming.ring();
      await outgoing.ringing();
      const answering = incoming.answer().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      await outgoing.hangup();
      await answering;
      expect((await incoming.ended()).by).to.be.oneOf(['there', 'cancelled']);
      expect(outgoing.live).to.equal(false);
      await stage.expectNoDialog();
    }
  });
});

describe('crossing BYEs of both sides', () => {
  const stage = useStage();

  it('end the call without an error', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    for (let round = 0; round < 6; round += 1) {
      const { outgoing, incoming } = await stage.connect(alice, bob, '102');
      await Promise.all([outgoing.hangup(), incoming.hangup()]);
      expect([outgoing.live, incoming.live]).to.deep.equal([false, false]);
      await stage.expectNoDialog();
    }
    expect(stage.node.output).to.not.contain('BYE failed');
  });
});
