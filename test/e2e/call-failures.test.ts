import { expect } from 'chai';
import { useStage } from '../support/stage.ts';

describe('calls that are not answered', () => {
  const stage = useStage();

  for (const status of [486, 603, 480]) {
    it(`end with the ${status} of the called phone`, async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const call = await alice.call('102');
      const incoming = await bob.incoming();
      incoming.ring();
      await call.ringing();
      incoming.reject(status);
      expect((await call.refused()).status).to.equal(status);
      await stage.expectNoDialog();
    });
  }

  it('end with 404 for a number nobody has', async () => {
    const alice = await stage.phone('alice');
    expect((await (await alice.call('199')).refused()).status).to.equal(404);
  });

  it('end with 480 for an account without a phone', async () => {
    const alice = await stage.phone('alice');
    expect((await (await alice.call('104')).refused()).status).to.equal(480);
  });

  it('reach the called phone as CANCEL when the caller hangs up while it rings', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const call = await alice.call('102');
    const incoming = await bob.incoming();
    incoming.ring();
    await call.ringing();
    await call.cancel();
    expect((await incoming.ended()).by).to.equal('cancelled');
    expect((await call.ended()).status).to.equal(487);
    await stage.expectNoDialog();
  });

  it('leave nothing when the caller hangs up at once', async () => {
    const [alice] = await stage.phones('alice', 'bob');
    const call = await alice.call('102');
    await call.cancel();
    await stage.expectNoDialog();
  });

  it('end for both when the answer and the CANCEL cross', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const call = await alice.call('102');
    const incoming = await bob.incoming();
    incoming.ring();
    await call.ringing();
    await Promise.all([incoming.answer().catch(() => {}), call.cancel()]);
    await incoming.ended();
    await stage.expectNoDialog();
  });

  it('are refused when no codec is common', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const call = await alice.call('102');
    (await bob.incoming()).reject(488);
    expect((await call.refused()).status).to.equal(488);
  });
});
